package native

import (
	"net"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/wire"
)

func TestTheClientIsToldThatItHasAskedBeforeTheServerAnswers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	asked := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = c.Read(make([]byte, 4096))
		select {
		case <-asked:
		case <-time.After(5 * time.Second):
			t.Error("a client waits for an answer and does nothing else")
		}
	}()
	_, err = Open(t.Context(), l.Addr().String(), wire.Request{Test: measure.TestTCP, Options: measure.Defaults(measure.TestTCP)},
		wire.Hooks{Asked: func() { close(asked) }})
	if err == nil {
		t.Error("a server that answers nothing is taken for one")
	}
	<-done
}
