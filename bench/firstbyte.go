package main

import (
	"context"
	"io"
	"net"
	"sync"
	"time"
)

// dataStart tells a program's data connection from its others, and where its
// measured bytes begin.
type dataStart struct {
	preamble int                               // bytes before the first measured one
	is       func(index int, head []byte) bool // index counts connections from 0; head is what a connection begins with
}

// sokuData is a connection that begins with the 40-byte preamble of docs/protocol.md.
var sokuData = dataStart{40, func(_ int, head []byte) bool { return string(head[:4]) == "SOKU" }}

// iperf3Data is a connection after the first, and begins with a cookie of 37 bytes.
var iperf3Data = dataStart{37, func(index int, _ []byte) bool { return index > 0 }}

// limitData is all that its one connection carries.
var limitData = dataStart{0, func(int, []byte) bool { return true }}

// relay stands between a client and its server on loopback and notes when the
// client first connects and when the first measured byte passes.
type relay struct {
	listener net.Listener
	to       string
	start    dataStart
	opened   chan time.Time // gets the moment of the first connection, once
	first    chan time.Time // gets that of the first measured byte, once

	once sync.Once
	work sync.WaitGroup
	stop context.CancelFunc
}

// newRelay listens on a port of its own. close must be called.
func newRelay(ctx context.Context, to string, start dataStart) (*relay, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	r := &relay{listener: l, to: to, start: start, opened: make(chan time.Time, 1), first: make(chan time.Time, 1), stop: stop}
	r.work.Go(func() {
		for index := 0; ; index++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if index == 0 {
				r.opened <- time.Now()
			}
			r.work.Go(func() { r.pass(ctx, c, index) })
		}
	})
	return r, nil
}

func (r *relay) port() int { return r.listener.Addr().(*net.TCPAddr).Port }

// close ends all connections and waits for everything.
func (r *relay) close() {
	_ = r.listener.Close()
	r.stop()
	r.work.Wait()
}

// pass carries one connection in both directions until either end closes.
func (r *relay) pass(ctx context.Context, client net.Conn, index int) {
	defer client.Close()
	var d net.Dialer
	server, err := d.DialContext(ctx, "tcp4", r.to)
	if err != nil {
		return
	}
	defer server.Close()
	defer context.AfterFunc(ctx, func() { client.Close(); server.Close() })()
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(client, server)
		_ = client.(*net.TCPConn).CloseWrite()
	})
	_, _ = io.Copy(&watched{Writer: server, relay: r, index: index}, client)
	_ = server.(*net.TCPConn).CloseWrite()
	back.Wait()
}

// watched looks at the first bytes of what it passes on.
type watched struct {
	io.Writer
	relay *relay
	index int
	head  []byte
	done  bool
}

func (w *watched) Write(p []byte) (int, error) {
	if s := w.relay.start; !w.done {
		w.head = append(w.head, p[:min(len(p), s.preamble+1-len(w.head))]...)
		if len(w.head) > s.preamble {
			w.done = true
			if s.is(w.index, w.head) {
				w.relay.once.Do(func() { w.relay.first <- time.Now() })
			}
		}
	}
	return w.Writer.Write(p)
}
