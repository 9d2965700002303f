//go:build linux && (amd64 || arm64) && !race && !plainloops

package latency

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/test/tier"
)

// An echo rests when its client is silent for a while.
func TestAnEchoThatRestsAnswersTheNextMessage(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	for _, spin := range []string{"on", "off"} {
		t.Run(spin, func(t *testing.T) {
			t.Parallel()
			near, far := sockets(t, "tcp")
			o := options("tcp")
			measure.EditOwn(&o, func(own *Options) { own.Spin = spin })
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				_, err := Echo(ctx, []net.Conn{far}, o, engine.Flow{}, nil)
				done <- err
			}()
			b := make([]byte, o.Size)
			for range 2 {
				time.Sleep(restAfter + 300*time.Millisecond)
				_ = near.SetDeadline(time.Now().Add(5 * time.Second))
				if _, err := near.Write(b); err != nil {
					t.Fatal(err)
				}
				if _, err := io.ReadFull(near, b); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(restAfter + 300*time.Millisecond)
			cancelled := time.Now()
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
			if d := time.Since(cancelled); d > 500*time.Millisecond {
				t.Errorf("it ended %v after its context", d)
			}
		})
	}
}

func TestEchoesLeaveHalfOfTheProcessors(t *testing.T) {
	places := 0
	for {
		ok, leave := mayEchoSpin("on")
		if !ok {
			break
		}
		defer leave()
		places++
	}
	if want := max(1, sock.Processors/2); places != want {
		t.Errorf("%d echoes spin, want %d of %d processors", places, want, sock.Processors)
	}
	if ok, leave := maySpin("on"); !ok {
		t.Error("a client of the same process may not")
	} else {
		leave()
	}
}
