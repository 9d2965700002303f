package main

import (
	"context"
	"io"
	"net"
	"sync"
	"time"
)

// dataStart identifies a program's data connection, and where its measured bytes begin.
type dataStart struct {
	preamble int                               // bytes before the first measured one
	is       func(index int, head []byte) bool // index counts connections from 0; head has a connection's first bytes
}

// sokuData is a connection with the 40-byte preamble of docs/protocol.md.
var sokuData = dataStart{40, func(_ int, head []byte) bool { return string(head[:4]) == "SOKU" }}

// iperf3Data is a connection after the first; it begins with a cookie of 37 bytes.
var iperf3Data = dataStart{37, func(index int, _ []byte) bool { return index > 0 }}

// limitData is the only connection, without a preamble.
var limitData = dataStart{0, func(int, []byte) bool { return true }}

// relay is placed between a client and its server on loopback and records when the client
// first connects and when the first measured byte passes.
type relay struct {
	listener net.Listener
	to       string
	start    dataStart
	opened   chan time.Time // gets the time of the first connection, once
	first    chan time.Time // gets the time of the first measured byte, once

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

// close ends all connections and waits for all goroutines.
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

// watched inspects the first bytes that it forwards.
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
