package main

import (
	"context"
	"io"
	"net"
	"sync"
	"time"
)

// relay is placed between a client and its server on loopback and records when the client
// first connects.
type relay struct {
	listener net.Listener
	to       string
	opened   chan time.Time // gets the time of the first connection, once

	work sync.WaitGroup
	stop context.CancelFunc
}

// newRelay listens on a port of its own. close must be called.
func newRelay(ctx context.Context, to string) (*relay, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	r := &relay{listener: l, to: to, opened: make(chan time.Time, 1), stop: stop}
	r.work.Go(func() {
		for first := true; ; first = false {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if first {
				r.opened <- time.Now()
			}
			r.work.Go(func() { r.pass(ctx, c) })
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
func (r *relay) pass(ctx context.Context, client net.Conn) {
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
	_, _ = io.Copy(server, client)
	_ = server.(*net.TCPConn).CloseWrite()
	back.Wait()
}
