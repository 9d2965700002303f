package floor

import (
	"context"
	"runtime"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/pace"
	"soku/internal/text"
)

// sleeps are the lengths that engines use: between packets, and between the ticks of a
// schedule.
var sleeps = []time.Duration{50 * time.Microsecond, time.Millisecond}

// timers measures how late each length of sleep ends.
func (r *run) timers(ctx context.Context) error {
	for _, length := range sleeps {
		r.step(text.Line{Key: "floor.step.sleeps", Args: text.Args{"Length": length}})
		late := lateness(ctx, length, r.sleep)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.doc.Timers = append(r.doc.Timers, measure.FloorTimer{AskedNs: int64(length), LateNs: *late.Percentiles()})
	}
	return nil
}

// lateness sleeps repeatedly on a locked thread, as a paced sender does, and returns how
// late each sleep ended. It ends within one sleep of ctx's end.
func lateness(ctx context.Context, length, whole time.Duration) *measure.Histogram {
	late := measure.NewHistogram()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		w := pace.NewWaiter(ctx.Done())
		for end := sock.Now().Add(whole); ; {
			begin := sock.Now()
			if !begin.Before(end) || !w.WaitFine(length) {
				return
			}
			// A signal may end a sleep early; then it does not measure the timer.
			if d := sock.Since(begin) - length; d >= 0 {
				late.Record(int64(d))
			}
		}
	}()
	<-done
	return late
}
