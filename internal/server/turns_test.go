package server

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/wire/native"
)

// turns stands between a client and a server and counts how often the client has
// to wait for an answer before its first measured byte.
type turns struct {
	mu       sync.Mutex
	conns    int
	asked    bool // the client spoke last
	count    int
	measured bool
	opened   map[int]chan struct{} // closed when there are as many connections as the key says
}

func (r *turns) accepted() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns++
	if c := r.opened[r.conns]; c != nil {
		close(c)
	}
}

// spoke notes that a side said something; measured says that it was a measured byte.
func (r *turns) spoke(client, measured bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.measured {
		return
	}
	if !client && r.asked {
		r.count++
	}
	r.asked, r.measured = client, measured
}

// serve carries connections to addr until the test ends. What hold says is called
// before the server's first word on a data connection is passed on.
func (r *turns) serve(t *testing.T, addr string, hold func()) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); work.Wait() })
	work.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", addr)
			if err != nil {
				_ = client.Close()
				return
			}
			r.accepted()
			work.Go(func() { r.carry(client, server, hold) })
		}
	})
	return l.Addr().String()
}

func (r *turns) carry(client, server net.Conn, hold func()) {
	head := make([]byte, native.PreambleSize)
	defer client.Close()
	defer server.Close()
	n, err := io.ReadAtLeast(client, head, 4)
	if err != nil {
		return
	}
	data := string(head[:4]) == native.Magic
	if data {
		if _, err := io.ReadFull(client, head[n:]); err != nil {
			return
		}
		n = len(head)
	}
	r.spoke(true, false)
	_, _ = server.Write(head[:n])
	var back sync.WaitGroup
	back.Go(func() {
		first := true
		pass(client, server, func() {
			if first && data {
				hold()
			}
			first = false
			r.spoke(false, false)
		})
	})
	pass(server, client, func() { r.spoke(true, data) })
	back.Wait()
}

// pass copies to the end of from, and calls note before each piece.
func pass(to, from net.Conn, note func()) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			note()
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			_ = to.(*net.TCPConn).CloseWrite()
			return
		}
	}
}

func TestFourRoundTripsBeforeTheFirstMeasuredByte(t *testing.T) {
	s := serveWith(t, Config{}, realEngines())
	r := &turns{opened: map[int]chan struct{}{3: make(chan struct{})}}
	errSlow := errors.New("the connection of the start is opened after the data connection, which costs a round trip")
	through := *s
	through.addr = r.serve(t, s.addr, func() {
		select {
		case <-r.opened[3]: // control, data, start
		case <-time.After(prompt):
			t.Error(errSlow)
		}
	})
	o := tcpOptions()
	o.Duration, o.Bytes = 0, 1
	if _, _, err := through.run(t.Context(), measure.TestTCP, o); err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	// The session, its events, the data connection, the start.
	if !r.measured || r.count != 4 {
		t.Errorf("the client waited %d times for an answer (measured bytes: %v)", r.count, r.measured)
	}
}
