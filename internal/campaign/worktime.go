package campaign

import (
	"context"
	"errors"
	"time"

	"soku/internal/measure"
)

// worked is how long the runs of a campaign took, as far as its journal shows: from the
// start of each to its last record.
type worked struct {
	before      time.Duration // of the runs before the last one
	began, last time.Time
}

func (w *worked) learn(rec Record) {
	switch {
	case rec.Kind == RecordStarted:
		w.before = w.total()
		w.began, w.last = rec.At, rec.At
	case rec.Kind == RecordRoundsAdded: // also while nothing runs
	case rec.At.After(w.last) && !w.began.IsZero():
		w.last = rec.At
	}
}

func (w *worked) total() time.Duration { return w.before + max(0, w.last.Sub(w.began)) }

// Worked is how long the runs of the campaign took so far, as far as its journal shows.
func (c *Campaign) Worked() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.worked.total()
}

// errTimeSpent is why the context of a run ended whose campaign has used its time.
var errTimeSpent = errors.New("the campaign has used its time")

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
		length, _ := trialTime(a.job.Test, a.job.Options)
		longest = max(longest, length)
	}
	return longest > r.timeLeft()
}

// timeSpent is the failure of a campaign that has used its time.
func (r *run) timeSpent() *measure.Error {
	return measure.Fail(measure.KindRefused, "campaign.time_budget", measure.Figures{
		"campaign": r.c.ID(), "time_ns": r.c.Plan.Budget.Time, "done": r.out.Done, "trials": r.out.Total, "file": r.c.Plan.File,
	})
}
