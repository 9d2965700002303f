package server

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"testing"

	"soku/internal/wire/native"
)

// resetter carries TCP between a client and the server at addr, and may reset all connections
// together, as a gateway that fails over.
type resetter struct {
	addr, server string
	// passes says whether what a connection carries is forwarded; else it is dropped, and all
	// connections are reset. Calls are one after the other.
	passes func(data, fromServer bool, b []byte) bool

	mu     sync.Mutex
	events *latch // a connection carries the events, or did before it was reset
	open   map[*net.TCPConn]struct{}
	closed bool
	wg     sync.WaitGroup
}

func newResetter(t *testing.T, server string, passes func(data, fromServer bool, b []byte) bool) *resetter {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	r := &resetter{addr: l.Addr().String(), server: server, passes: passes, open: map[*net.TCPConn]struct{}{}, events: newLatch()}
	r.wg.Go(func() {
		for {
			in, err := l.AcceptTCP()
			if err != nil {
				return
			}
			r.wg.Go(func() { r.carry(in) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		r.cut()
		r.wg.Wait()
	})
	return r
}

// cut resets everything, now and later.
func (r *resetter) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.reset()
}

// reset is for a caller that has the lock.
func (r *resetter) reset() {
	for c := range r.open {
		reset(c)
	}
	clear(r.open)
	if r.events == nil {
		return
	}
	r.events.fire()
	r.events = newLatch()
	if r.closed {
		r.events.fire()
	}
}

func reset(c *net.TCPConn) {
	_ = c.SetLinger(0)
	_ = c.Close()
}

func (r *resetter) carry(in *net.TCPConn) {
	c, err := net.Dial("tcp", r.server)
	if err != nil {
		reset(in)
		return
	}
	out := c.(*net.TCPConn)
	r.mu.Lock()
	r.open[in], r.open[out] = struct{}{}, struct{}{}
	events := r.events
	if r.closed {
		r.reset()
	}
	r.mu.Unlock()
	var first [4]byte
	if _, err := io.ReadFull(in, first[:]); err != nil {
		reset(out)
		return
	}
	if string(first[:]) == native.Magic && events != nil {
		<-events.ch // a fast copy would be over before its events are attached again
	}
	var both sync.WaitGroup
	pump := func(to, from *net.TCPConn, fromServer bool, b []byte) {
		buf := make([]byte, 64<<10)
		for n := copy(buf, b); ; {
			if !r.forward(to, string(first[:]) == native.Magic, fromServer, buf[:n]) {
				return
			}
			var err error
			if n, err = from.Read(buf); err != nil {
				if errors.Is(err, io.EOF) {
					_ = to.CloseWrite()
				}
				return
			}
		}
	}
	both.Go(func() { pump(out, in, false, first[:]) })
	both.Go(func() { pump(in, out, true, nil) })
	both.Wait()
	_ = in.Close()
	_ = out.Close()
}

func (r *resetter) forward(to *net.TCPConn, data, fromServer bool, b []byte) bool {
	r.mu.Lock()
	if len(b) > 0 && !r.passes(data, fromServer, b) {
		r.reset()
		r.mu.Unlock()
		return false
	}
	if !data && fromServer && r.events != nil && bytes.Contains(b, []byte("x-ndjson")) {
		r.events.fire()
	}
	r.mu.Unlock()
	_, err := to.Write(b)
	return err == nil
}

// afterData passes everything, but cuts once at each of the limits, in bytes of data.
func afterData(limits ...int64) func(data, fromServer bool, b []byte) bool {
	moved := int64(0)
	return func(data, _ bool, b []byte) bool {
		if data {
			moved += int64(len(b))
		}
		if len(limits) > 0 && moved > limits[0] {
			limits = limits[1:]
			return false
		}
		return true
	}
}
