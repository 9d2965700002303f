package campaign

import (
	"context"
	"time"

	"soku/internal/campaign/schedule"
)

// Worked is how long the runs of the campaign took so far, as far as its journal shows.
func (c *Campaign) Worked() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.worked.total()
}

// withinTime returns a context that ends when the campaign has used its time. stop releases
// it.
func (r *run) withinTime(ctx context.Context) (within context.Context, stop func()) {
	if r.c.Plan.Budget.Time == 0 {
		return ctx, func() {}
	}
	within, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(r.timeLeft(), func() { cancel(errTimeSpent) })
	return within, func() { timer.Stop(); cancel(nil) }
}

// timeLeft is how long the campaign may go on; not negative.
func (r *run) timeLeft() time.Duration {
	return max(0, r.c.Plan.Budget.Time.Std()-r.elapsed())
}

// elapsed is how long all runs of the campaign took, this one included.
func (r *run) elapsed() time.Duration { return r.workedBefore + r.Now().Sub(r.began) }

// takesTooLong reports whether trials would end after the campaign's time.
func (r *run) takesTooLong(all []*attempt) bool {
	if r.c.Plan.Budget.Time == 0 {
		return false
	}
	var longest time.Duration
	for _, a := range all {
		length, _ := schedule.TrialTime(a.job.Test, a.job.Options)
		longest = max(longest, length)
	}
	return longest > r.timeLeft()
}
