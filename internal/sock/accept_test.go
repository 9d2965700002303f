package sock

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"soku/internal/measure"
)

// failing is a listener whose Accept fails once for each error in fails, and then waits
// until it is closed.
type failing struct {
	net.Listener
	fails chan error
}

func (f failing) Accept() (net.Conn, error) {
	select {
	case err := <-f.fails:
		return nil, err
	default:
		return f.Listener.Accept()
	}
}

func listening(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestAcceptContinuesAfterATemporaryError(t *testing.T) {
	f := failing{listening(t), make(chan error, 3)}
	for range 3 {
		f.fails <- errors.New("too many open files")
	}
	ctx, cancel := context.WithCancel(t.Context())
	took, done := make(chan net.Conn, 1), make(chan error, 1)
	go func() { done <- Accept(ctx, f, func(c net.Conn) { took <- c }) }()
	c, err := net.Dial("tcp", f.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	(<-took).Close()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if c, err := net.Dial("tcp", f.Addr().String()); err == nil {
		c.Close()
		t.Error("the listener is open")
	}
}

func TestAcceptEndsWithItsContextHoweverOftenItFails(t *testing.T) {
	f := failing{listening(t), make(chan error)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Accept(ctx, f, func(net.Conn) {}) }()
	stop := make(chan struct{})
	defer close(stop)
	go func() { // it never gets anywhere
		for {
			select {
			case f.fails <- errors.New("too many open files"):
			case <-stop:
				return
			}
		}
	}()
	cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it goes on")
	}
}

func TestAListenerClosedByOtherCodeIsAnError(t *testing.T) {
	l := listening(t)
	l.Close()
	if err := Accept(t.Context(), l, func(net.Conn) {}); measure.KindOf(err) != measure.KindBroken {
		t.Errorf("%v", err)
	}
}
