package trial_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/server"
	"soku/internal/trial"
	"soku/test/tier"
)

// startServer runs a server on loopback until the test ends and returns its address.
func startServer(t *testing.T) string {
	t.Helper()
	s, err := server.New(server.Config{Listen: "127.0.0.1:0", MaxClients: 10, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s.Addr().String()
}

func specOf(test measure.Test, host string) trial.Spec {
	o := option.Defaults(test)
	if option.HasServer(test) {
		o.Duration = measure.Duration(100 * time.Millisecond)
	}
	return trial.Spec{Test: test, Options: o, Host: host}
}

func TestATrialThatIsReadyWaitsUntilItMayStart(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	addr := startServer(t)
	for _, test := range []measure.Test{measure.TestTCP, measure.TestUDP, measure.TestLatency, measure.TestConnect} {
		var progressed, early, calls int
		var released, started time.Time
		r := trial.Run(t.Context(), specOf(test, addr), trial.Hooks{
			Every: true,
			Observe: func(measure.Progress) {
				progressed++
				if released.IsZero() {
					early++
				}
			},
			Ready: func(context.Context) error {
				calls++
				time.Sleep(50 * time.Millisecond)
				released = time.Now()
				return nil
			},
			Started: func(at time.Time) { started = at },
		})
		if r.Error != nil || calls != 1 || progressed == 0 || early != 0 {
			t.Errorf("%s: error %v, ready %d times, %d intervals, %d of them before the start", test, r.Error, calls, progressed, early)
		}
		if started.Before(released) || time.Since(started) < 80*time.Millisecond {
			t.Errorf("%s: released at %s, started at %s", test, released, started)
		}
		if wall := time.Duration(r.Hosts.Client.Counters.WallNs); wall > time.Since(released) {
			t.Errorf("%s: counters cover %s, of which a part is from before the start", test, wall)
		}
	}
}

func TestATrialThatMayNotStartMovesNothing(t *testing.T) {
	addr := startServer(t)
	for _, test := range []measure.Test{measure.TestTCP, measure.TestConnect, measure.TestMTU, measure.TestTrace} {
		host := addr
		if !option.HasServer(test) {
			host = "127.0.0.1"
		}
		r := trial.Run(t.Context(), specOf(test, host), trial.Hooks{
			Observe: func(measure.Progress) { t.Errorf("%s: packets moved", test) },
			Ready:   func(context.Context) error { return errors.New("the other trial of the group failed") },
		})
		if r.Error == nil || r.Error.Message != "the other trial of the group failed" || r.Summary.DurationNs != 0 {
			t.Errorf("%s: error %v, summary %+v", test, r.Error, r.Summary)
		}
	}
}
