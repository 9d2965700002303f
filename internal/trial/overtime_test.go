package trial

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"soku/internal/measure"
)

// Whatever the other end sends, a trial ends some time after its duration.
func TestATrialEndsSomeTimeAfterItsDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		began := time.Now()
		defer limitTime(measure.Options{Omit: measure.Duration(time.Second), Duration: measure.Duration(10 * time.Second)}, cancel)()
		<-ctx.Done()
		var e *measure.Error
		if took := time.Since(began); took != 11*time.Second+overtime || !errors.As(context.Cause(ctx), &e) || e.Code != "trial.overtime" || e.Kind != measure.KindBroken {
			t.Errorf("after %s: %v", took, context.Cause(ctx))
		}
	})
}

func TestATrialOfAnAmountTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		stop := limitTime(measure.Options{Bytes: 1}, cancel)
		time.Sleep(24 * time.Hour)
		stop()
		stop = limitTime(measure.Options{Duration: 1}, cancel)
		stop()
		time.Sleep(24 * time.Hour)
		if ctx.Err() != nil {
			t.Error(context.Cause(ctx))
		}
	})
}
