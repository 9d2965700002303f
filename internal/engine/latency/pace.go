package latency

import (
	"context"
	"time"
)

// pacer waits for the points of a schedule: it sleeps while they are far and
// looks at the clock without sleeping for the last spinNs, because a timer
// fires late by about that much and the lateness would count as latency.
type pacer struct {
	clock clock
	spin  time.Duration
	nap   func(time.Duration)
	// release gives the thread back as it was.
	release func()
}

// timerSpin is about how late a timer of the Go runtime fires: an idle runtime
// waits in whole milliseconds.
const timerSpin = time.Millisecond

// newPacer makes a pacer for a goroutine that has an OS thread of its own.
func newPacer(c clock) *pacer {
	p := &pacer{clock: c, spin: timerSpin, nap: time.Sleep, release: func() {}}
	p.ownThread()
	return p
}

// until waits for a point of the schedule and for room in the window, and
// returns the time then. It also returns when the receiver has stopped.
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
			p.nap(20 * time.Microsecond)
		}
	}
}

// wait waits for the time, a tick at most, and says whether it has come.
func (p *pacer) wait(at int64) (now int64, due bool) {
	for napped := time.Duration(0); ; {
		now = p.clock.now()
		left := time.Duration(at - now)
		switch {
		case left <= 0:
			return now, true
		case napped >= maxTick:
			return now, false
		case left > p.spin:
			step := min(left-p.spin, maxTick)
			p.nap(step)
			napped += step
		}
	}
}
