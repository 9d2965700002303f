package exchange

import (
	"context"
	"net"
	"testing"

	"soku/internal/sock"
)

// Service listens on loopback until the test ends, runs f on each connection and closes
// it, and returns its address. It stands for a server of an unknown protocol.
func Service(t testing.TB, f func(net.Conn)) (address string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- sock.Accept(ctx, l, func(c net.Conn) {
			go func() { defer c.Close(); f(c) }()
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}
