package trial

import (
	"context"
	"time"

	"soku/internal/measure"
)

// overtime is how much longer than its duration a trial may take from its start to the other
// end's result, whatever the other end sends: more than the 30 s after which a soku server ends
// it, and what the ends wait for each other then.
const overtime = time.Minute

// limitTime ends a trial that has a duration when it takes longer than that by over. The caller
// calls the returned function when the trial has ended. A trial of an amount has no limit.
func limitTime(o measure.Options, over time.Duration, cancel context.CancelCauseFunc) (stop func()) {
	if o.Duration <= 0 {
		return func() {}
	}
	timer := time.AfterFunc((o.Omit+o.Duration).Std()+over, func() {
		cancel(measure.Fail(measure.KindBroken, "trial.overtime", measure.Figures{"limit_ns": over}))
	})
	return func() { timer.Stop() }
}
