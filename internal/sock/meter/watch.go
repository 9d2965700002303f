package meter

import (
	"context"
	"errors"
	"time"
)

// Window describes the time of one flow.
type Window struct {
	From time.Time       // when the first byte moved
	Omit time.Duration   // omitted start
	Idle time.Duration   // stall timeout; 0: no timeout
	Done <-chan struct{} // closed when the workers have ended
	// Begun is called at the end of the omitted start, if there is one: counts before it
	// are left out. It may be nil.
	Begun func()
}

// ErrIdle says that nothing moved for longer than Window.Idle.
var ErrIdle = errors.New("nothing moved")

// Watch records until w.Done is closed and returns nil; or returns the cause of ctx's
// end, or [ErrIdle]. It returns immediately on each and waits for no goroutine. It does not
// record the part after the last boundary: [Recorder.End] does.
func (r *Recorder) Watch(ctx context.Context, w Window) error {
	if zero := (reading{at: w.From, counts: make([]Count, len(r.cells))}); w.Omit <= 0 {
		r.begin(zero)
	} else {
		r.omit(zero)
	}
	moved, movedAt := int64(-1), clock()
	timer := time.NewTimer(time.Until(r.next(w)))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-w.Done:
			return nil
		case <-timer.C:
		}
		switch {
		case r.begun:
			r.tick()
		case !clock().Before(w.From.Add(w.Omit)):
			from := r.read()
			r.tickOmitted(from, true)
			r.begin(from)
			if w.Begun != nil {
				w.Begun()
			}
		default:
			r.tickOmitted(r.read(), false)
		}
		if now := r.moved(); now != moved {
			moved, movedAt = now, clock()
		} else if w.Idle > 0 && clock().Sub(movedAt) > w.Idle {
			return ErrIdle
		}
		timer.Reset(time.Until(r.next(w)))
	}
}

// next returns when there is something to record.
func (r *Recorder) next(w Window) time.Time {
	if !r.begun {
		end := w.From.Add(w.Omit)
		if next := r.nextInterval(); next.Before(end) {
			return next
		}
		return end
	}
	step, interval := r.nextStep(), r.nextInterval()
	if interval.Before(step) {
		return interval
	}
	return step
}

// moved returns a number that changes whenever a byte moves.
func (r *Recorder) moved() (n int64) {
	for i := range r.cells {
		n += r.cells[i].load().Bytes
	}
	return n
}
