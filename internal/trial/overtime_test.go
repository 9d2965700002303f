package trial

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/server"
)

// Whatever the other end sends, a trial ends some time after its duration.
func TestATrialEndsSomeTimeAfterItsDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		began := time.Now()
		defer limitTime(measure.Options{Omit: measure.Duration(time.Second), Duration: measure.Duration(10 * time.Second)}, overtime, cancel)()
		<-ctx.Done()
		var e *measure.Error
		if took := time.Since(began); took != 11*time.Second+overtime || !errors.As(context.Cause(ctx), &e) || e.Code != "trial.overtime" || e.Kind != measure.KindBroken {
			t.Errorf("after %s: %v", took, context.Cause(ctx))
		}
	})
}

// The limit holds for a whole session: here it is over 100 ms after the start of a test of 10 s.
func TestASessionEndsAtTheLimitOfItsTime(t *testing.T) {
	s, err := server.New(server.Config{Listen: "127.0.0.1:0", MaxClients: 1, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	defer func() { stop(); <-ended }()
	o := option.Defaults(measure.TestTCP)
	o.Rate = 1e6
	r := Run(t.Context(), Spec{Test: measure.TestTCP, Options: o, Host: s.Addr().String(), overtime: 100*time.Millisecond - o.Duration.Std()}, Hooks{})
	if r.Error == nil || r.Error.Code != "trial.overtime" || r.Summary.DurationNs > o.Duration/2 {
		t.Errorf("%v after %s", r.Error, r.Summary.DurationNs)
	}
}

func TestATrialOfAnAmountTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		stop := limitTime(measure.Options{Bytes: 1}, overtime, cancel)
		time.Sleep(24 * time.Hour)
		stop()
		stop = limitTime(measure.Options{Duration: 1}, overtime, cancel)
		stop()
		time.Sleep(24 * time.Hour)
		if ctx.Err() != nil {
			t.Error(context.Cause(ctx))
		}
	})
}
