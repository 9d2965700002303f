package server

import (
	"net"
	"sync"
)

// openConns runs one goroutine for each connection, for at most limit of them,
// and can close what they wait for.
type openConns struct {
	limit int

	mu     sync.Mutex
	conns  map[*net.TCPConn]uint64 // by number in the order of arrival
	served uint64
	order  []*net.TCPConn // oldest first; some of them have left conns
	closed bool
	wg     sync.WaitGroup
}

// serve runs f for c. Beyond the limit it closes the oldest connection, because
// a client that means it says something at once, and the oldest has waited
// longest to. A connection that f hands over is released first.
func (o *openConns) serve(c *net.TCPConn, f func(*net.TCPConn)) {
	o.mu.Lock()
	if o.closed {
		o.mu.Unlock()
		_ = c.Close()
		return
	}
	if o.conns == nil {
		o.conns = map[*net.TCPConn]uint64{}
	}
	o.makeRoom()
	o.served++
	o.conns[c] = o.served
	o.order = append(o.order, c)
	o.wg.Add(1)
	o.mu.Unlock()
	go func() {
		defer o.wg.Done()
		defer o.release(c)
		f(c)
	}()
}

// makeRoom closes the oldest connections until there is room for one more, and
// forgets those that have left since.
func (o *openConns) makeRoom() {
	for len(o.order) > 0 {
		oldest := o.order[0]
		_, in := o.conns[oldest]
		if in && len(o.conns) < o.limit {
			return
		}
		if in {
			delete(o.conns, oldest)
			_ = oldest.Close()
		}
		o.order[0] = nil
		o.order = o.order[1:]
	}
}

// number is the place of c in the order of arrival; 0 once c was released.
func (o *openConns) number(c *net.TCPConn) uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.conns[c]
}

// release takes c out, so that nothing here closes it.
func (o *openConns) release(c *net.TCPConn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.conns, c)
}

func (o *openConns) closeAll() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	for c := range o.conns {
		_ = c.Close()
	}
	o.conns, o.order = nil, nil
}

func (o *openConns) wait() { o.wg.Wait() }

// handoff is the net.Listener of the HTTP server: it yields the connections
// that were recognised as control connections.
type handoff struct {
	addr  net.Addr
	limit int
	next  chan net.Conn
	done  *latch

	mu   sync.Mutex
	open map[*controlConn]struct{}
	wg   sync.WaitGroup // one count for an open connection
}

func newHandoff(addr net.Addr, limit int) *handoff {
	return &handoff{addr: addr, limit: limit, next: make(chan net.Conn), done: newLatch(), open: map[*controlConn]struct{}{}}
}

// claim makes c a control connection that already read prefix. It returns nil
// when there are too many.
func (h *handoff) claim(c *net.TCPConn, prefix []byte) *controlConn {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.open) >= h.limit || h.done.fired() {
		return nil
	}
	cc := &controlConn{TCPConn: c, prefix: prefix, gone: newLatch(), owner: h}
	h.open[cc] = struct{}{}
	h.wg.Add(1)
	return cc
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
// closed.
type controlConn struct {
	*net.TCPConn
	prefix []byte // read by one goroutine at a time, as net.Conn demands of its users here
	gone   *latch
	owner  *handoff
}

// Read implements net.Conn.
func (c *controlConn) Read(b []byte) (int, error) {
	if len(c.prefix) > 0 {
		n := copy(b, c.prefix)
		c.prefix = c.prefix[n:]
		return n, nil
	}
	return c.TCPConn.Read(b)
}

// Close implements net.Conn.
func (c *controlConn) Close() error {
	if c.gone.fire() {
		c.owner.mu.Lock()
		delete(c.owner.open, c)
		c.owner.mu.Unlock()
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

func (l *latch) fired() bool {
	select {
	case <-l.ch:
		return true
	default:
		return false
	}
}
