package agent_test

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"soku/internal/agent"
	"soku/internal/measure"
)

func TestAChildWaitsUntilItMayStart(t *testing.T) {
	var started atomic.Bool
	var early, late, reports int
	r := child("").Run(t.Context(), aSpec(), agent.Hooks{
		Progress: func(measure.Progress) {
			if started.Load() {
				late++
			} else {
				early++
			}
		},
		Ready: func(context.Context, time.Duration) (time.Time, error) {
			time.Sleep(50 * time.Millisecond) // a child that does not wait reports meanwhile
			started.Store(true)
			return time.Time{}, nil
		},
		Started: func(time.Time, time.Duration) {
			if reports++; !started.Load() || late > 0 {
				t.Error("it is not reported when it starts")
			}
		},
	})
	if r.Error != nil || early != 0 || late != 3 || reports != 1 {
		t.Errorf("error %v, %d intervals before the start and %d after, started %d times", r.Error, early, late, reports)
	}
}

func TestATrialThatMayNotStartFailsWithTheReason(t *testing.T) {
	r := child("").Run(t.Context(), aSpec(), agent.Hooks{
		Progress: func(measure.Progress) { t.Error("it started") },
		Ready: func(context.Context, time.Duration) (time.Time, error) {
			return time.Time{}, errors.New("the other trial of the group failed")
		},
	})
	if r.Error == nil || r.Error.Message != "the other trial of the group failed" {
		t.Errorf("error is %v", r.Error)
	}
}

func TestAnOldChildCannotStartWithOthers(t *testing.T) {
	r := child(old).Run(t.Context(), aSpec(), agent.Hooks{Ready: func(context.Context, time.Duration) (time.Time, error) {
		t.Error("it reported that it was ready")
		return time.Time{}, nil
	}})
	if r.Error == nil || r.Error.Kind != measure.KindBroken || !strings.Contains(r.Error.Message, "onprem started its trial without waiting") {
		t.Errorf("error is %v", r.Error)
	}
	if r := child(old).Run(t.Context(), aSpec(), agent.Hooks{}); r.Error != nil {
		t.Errorf("alone it fails: %v", r.Error)
	}
}

func TestTheWaitEndsWithTheChild(t *testing.T) {
	s := aSpec()
	s.Host, s.Access = startServer(t), agent.Access{}
	place := child(measures)
	begin := place.Command
	var cmd *exec.Cmd
	place.Command = func(ctx context.Context) (*exec.Cmd, error) {
		var err error
		cmd, err = begin(ctx)
		return cmd, err
	}
	r := place.Run(t.Context(), s, agent.Hooks{Ready: func(ctx context.Context, _ time.Duration) (time.Time, error) {
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		<-ctx.Done()
		return time.Time{}, ctx.Err()
	}})
	if r.Error == nil || r.Error.Kind != measure.KindBroken || !strings.Contains(r.Error.Message, "ended without a result: signal: killed") {
		t.Errorf("error is %v", r.Error)
	}
}

func TestEndingTheContextEndsTheWait(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	r := child("").Run(ctx, aSpec(), agent.Hooks{Ready: func(ctx context.Context, _ time.Duration) (time.Time, error) {
		cancel(measure.TextError(measure.KindInterrupted, "interrupted", ""))
		<-ctx.Done()
		return time.Time{}, ctx.Err()
	}})
	// Whether the child reported that or was killed before.
	if r.Error == nil || r.Error.Kind != measure.KindInterrupted || r.Error.Message != "interrupted" {
		t.Errorf("error is %v", r.Error)
	}
}
