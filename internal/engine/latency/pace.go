package latency

import (
	"context"
	"time"

	"soku/internal/engine/latency/requests"
	"soku/internal/sock/pace"
)

// pacer waits for the times of a schedule: it sleeps until spinNs before, and then polls
// the clock, because a timer fires late by about that much and the delay would count as
// latency.
type pacer struct {
	clock requests.Clock
	spin  time.Duration
	// release restores the thread.
	release func()
}

// newPacer makes a pacer for a goroutine that has an OS thread of its own.
func newPacer(c requests.Clock) *pacer {
	late, restore := pace.FineSleep()
	return &pacer{clock: c, spin: late, release: restore}
}

// until waits for a time of the schedule and for room in the window, and returns the time
// then. It also returns if the receiver has stopped.
func (p *pacer) until(ctx context.Context, s *schedule, at int64) (int64, error) {
	for {
		now, due := p.wait(at)
		switch {
		case s.stop.Load():
			return now, nil
		case ctx.Err() != nil:
			return now, context.Cause(ctx)
		case due && !s.window.Full():
			return now, nil
		case due:
			pace.Sleep(20 * time.Microsecond)
		}
	}
}

// wait waits until at, for at most a tick, and reports whether it is due.
func (p *pacer) wait(at int64) (now int64, due bool) {
	for napped := time.Duration(0); ; {
		now = p.clock.Now()
		left := time.Duration(at - now)
		switch {
		case left <= 0:
			return now, true
		case napped >= maxTick:
			return now, false
		case left > p.spin:
			step := min(left-p.spin, maxTick)
			pace.Sleep(step)
			napped += step
		}
	}
}
