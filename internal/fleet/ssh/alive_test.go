package ssh

import (
	"bufio"
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"soku/internal/fleet/endpoint"
)

func TestAHostStaysForAsLongAsItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, to := io.Pipe()
		from, out := io.Pipe()
		e := endpoint.Endpoint{Listen: func(endpoint.Server) (endpoint.Listening, func(context.Context) error, error) {
			return endpoint.Listening{Port: 1}, func(ctx context.Context) error { <-ctx.Done(); return nil }, nil
		}, Silence: endpoint.Silence}
		ended := make(chan error, 1)
		go func() {
			ended <- e.Run(t.Context(), in, out)
			_ = in.Close()
			_ = out.Close()
		}()
		f := &far{lines: make(chan []byte), stop: make(chan struct{}), stdin: to}
		go func() {
			defer close(f.lines)
			for lines := bufio.NewScanner(from); lines.Scan(); {
				f.lines <- lines.Bytes()
			}
		}()
		if err := f.writeJSON(endpoint.Wish{Schema: endpoint.Schema, Serve: &endpoint.Server{Ports: []int{0}}}); err != nil {
			t.Fatal(err)
		}
		<-f.lines
		go f.keepAlive()
		time.Sleep(100 * endpoint.Silence)
		select {
		case err := <-ended:
			t.Fatalf("it ended: %v", err)
		default:
		}
		_ = to.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
