package trial_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"soku/internal/measure"
	"soku/internal/server"
	"soku/internal/trial"
)

// logged collects what a server logs.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) holds(what string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), what)
}

func TestOnlyAServerThatReceivesIsStartedBeforeTheMomentOfTheStart(t *testing.T) {
	for direction, early := range map[measure.Direction]bool{measure.Forward: true, measure.Reverse: false} {
		log := &logged{}
		s, err := server.New(server.Config{Listen: "127.0.0.1:0", Version: "test", Log: slog.New(slog.NewTextHandler(log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(ctx) }()
		spec := specOf(measure.TestTCP, s.Addr().String())
		spec.Options.Direction = direction
		asked := false
		trial.Run(ctx, spec, trial.Hooks{Begin: func(context.Context) error {
			asked = true
			if started := log.holds("test started"); started != early {
				t.Errorf("%s: the server was started before the moment: %t, want %t", direction, started, early)
			}
			return errors.New("seen")
		}})
		if !asked {
			t.Errorf("%s: nothing waited for the moment of the start", direction)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
