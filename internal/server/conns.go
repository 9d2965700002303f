package server

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"soku/internal/sock"
)

// openConns runs one goroutine for each connection, for as many as its limit has places,
// and can close what they wait for.
type openConns struct {
	log   *slog.Logger
	limit *FairLimit

	mu     sync.Mutex
	conns  map[*net.TCPConn]unclassified
	served uint64
	closed bool
	wg     sync.WaitGroup
}

// unclassified is a connection whose protocol is not known yet.
type unclassified struct {
	number uint64 // in the order of arrival
	place  *Held
}

func newOpenConns(log *slog.Logger, most int) *openConns {
	return &openConns{log: log, limit: NewFairLimit(most), conns: map[*net.TCPConn]unclassified{}}
}

// serve runs f for c. Beyond the limit the oldest connection is closed, because a real client
// sends soon after it connects. A connection that f hands over is released first. A panic of f
// closes c.
func (o *openConns) serve(c *net.TCPConn, f func(*net.TCPConn)) {
	if !o.add(c) {
		_ = c.Close()
		return
	}
	go func() {
		defer o.wg.Done()
		defer o.release(c)
		if Guard(o.log, func() error { f(c); return nil }, "client", c.RemoteAddr()) != nil {
			_ = c.Close()
		}
	}()
}

func (o *openConns) add(c *net.TCPConn) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return false
	}
	// Called by another's add, with the lock.
	lose := func() { delete(o.conns, c); _ = c.Close() }
	place := o.limit.Hold(sock.AddrPort(c.RemoteAddr()).Addr(), lose)
	if place == nil {
		return false
	}
	o.served++
	o.conns[c] = unclassified{o.served, place}
	o.wg.Add(1)
	return true
}

// number is the place of c in the order of arrival; 0 once c was released.
func (o *openConns) number(c *net.TCPConn) uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.conns[c].number
}

// release takes c out, so that nothing here closes it.
func (o *openConns) release(c *net.TCPConn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if held, in := o.conns[c]; in {
		delete(o.conns, c)
		held.place.Release()
	}
}

func (o *openConns) closeAll() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	for c := range o.conns {
		_ = c.Close()
	}
}

func (o *openConns) wait() { o.wg.Wait() }

// handoff is the net.Listener of the HTTP server: it yields the connections
// that were recognised as control connections.
type handoff struct {
	addr  net.Addr
	limit *FairLimit
	next  chan net.Conn
	done  *latch

	mu   sync.Mutex
	open map[*controlConn]struct{}
	lost []*controlConn // to be closed by the add that goes on
	wg   sync.WaitGroup // one count for an open connection
}

func newHandoff(addr net.Addr, most int) *handoff {
	return &handoff{addr: addr, limit: NewFairLimit(most), next: make(chan net.Conn), done: newLatch(), open: map[*controlConn]struct{}{}}
}

// claim makes c a control connection that already read prefix. It returns nil
// when there are too many.
func (h *handoff) claim(c *net.TCPConn, prefix []byte) *controlConn {
	cc, lost := h.add(&controlConn{TCPConn: c, prefix: prefix, gone: newLatch(), owner: h})
	for _, other := range lost {
		_ = other.Close()
	}
	return cc
}

// add is claim, and returns connections that have lost their places and are to be closed.
func (h *handoff) add(cc *controlConn) (added *controlConn, lost []*controlConn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.done.fired() {
		return nil, nil
	}
	// Called by another's add, with the lock.
	lose := func() { h.lost = append(h.lost, cc) }
	cc.place = h.limit.Hold(sock.AddrPort(cc.RemoteAddr()).Addr(), lose)
	lost, h.lost = h.lost, nil
	if cc.place == nil {
		return nil, lost
	}
	h.open[cc] = struct{}{}
	h.wg.Add(1)
	return cc, lost
}

// give passes c, which is cc or wraps it, to the HTTP server.
func (h *handoff) give(c net.Conn) {
	select {
	case h.next <- c:
	case <-h.done.ch:
		_ = c.Close()
	}
}

// Accept implements net.Listener.
func (h *handoff) Accept() (net.Conn, error) {
	select {
	case c := <-h.next:
		return c, nil
	case <-h.done.ch:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (h *handoff) Close() error { h.done.fire(); return nil }

// Addr implements net.Listener.
func (h *handoff) Addr() net.Addr { return h.addr }

func (h *handoff) closeAll() {
	h.done.fire()
	h.mu.Lock()
	open := make([]*controlConn, 0, len(h.open))
	for c := range h.open {
		open = append(open, c)
	}
	h.mu.Unlock()
	for _, c := range open {
		_ = c.Close()
	}
}

func (h *handoff) wait() { h.wg.Wait() }

// controlConn returns the bytes that were read to recognise it, and reports when it is
// closed, and by what the other end's side of it ended.
type controlConn struct {
	*net.TCPConn
	ended  atomic.Int32
	read   sync.Mutex // held in reads: the first to fail has the reason
	prefix []byte     // read by one goroutine at a time, as net.Conn demands of its users here
	gone   *latch
	owner  *handoff
	place  *Held
}

// Read implements net.Conn.
func (c *controlConn) Read(b []byte) (int, error) {
	if len(c.prefix) > 0 {
		n := copy(b, c.prefix)
		c.prefix = c.prefix[n:]
		return n, nil
	}
	c.read.Lock()
	defer c.read.Unlock()
	n, err := c.TCPConn.Read(b)
	switch {
	case errors.Is(err, io.EOF):
		c.ended.CompareAndSwap(0, endedInOrder)
	case err != nil && !errors.Is(err, os.ErrDeadlineExceeded): // which is this end's
		c.ended.CompareAndSwap(0, endedBroken)
	}
	return n, err
}

// Ends of the other end's side of a connection; 0: none yet.
const (
	endedInOrder = 1 // closed by the other end, or by the system of a program that was killed
	endedBroken  = 2
)

// Write implements net.Conn.
func (c *controlConn) Write(b []byte) (int, error) {
	n, err := c.TCPConn.Write(b)
	// Reads after the error that a write has reported say that the other end closed.
	if err != nil && !errors.Is(err, syscall.EPIPE) { // of a write after the other end closed
		c.ended.Store(endedBroken)
	}
	return n, err
}

// leftInOrder reports whether the other end has closed the connection in order, after a call
// failed or TLS has ended. It returns false if the connection broke, within [orderLimit].
func (c *controlConn) leftInOrder() bool {
	_ = c.SetReadDeadline(time.Now().Add(orderLimit))
	for b := make([]byte, 512); c.ended.Load() == 0; {
		if _, err := c.Read(b); err != nil { // after one that waits
			break
		}
	}
	return c.ended.Load() == endedInOrder
}

// orderLimit bounds the wait for the end of a connection.
const orderLimit = time.Second

// reset ends a connection that the other end has left, without waiting for it.
func (c *controlConn) reset() {
	_ = c.SetLinger(0)
	_ = c.Close()
}

// Close implements net.Conn.
func (c *controlConn) Close() error {
	if c.gone.fire() {
		c.owner.mu.Lock()
		delete(c.owner.open, c)
		c.owner.mu.Unlock()
		c.place.Release()
		defer c.owner.wg.Done()
	}
	return c.TCPConn.Close()
}

// latch is an event that happens once.
type latch struct {
	once sync.Once
	ch   chan struct{} // closed when it has happened
}

func newLatch() *latch { return &latch{ch: make(chan struct{})} }

// fire makes it happen and reports whether this call did.
func (l *latch) fire() (first bool) {
	l.once.Do(func() { close(l.ch); first = true })
	return first
}

func (l *latch) fired() bool { return IsClosed(l.ch) }
