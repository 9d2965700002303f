package campaign

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"soku/internal/measure"
)

// attempt is one trial that runs, or is about to.
type attempt struct {
	at      int // in the block
	job     Job
	planned int64     // payload, where it is known in advance
	started time.Time // when it was released with its group; zero before

	startError time.Duration // started is known within ± this

	lost   string // identity of the result that was lost before, or empty
	meter  meter  // of the running trial; under run.mu
	result *measure.Result
	bytes  int64 // payload it moved; valid with result
}

// measure runs the trials of a unit and keeps their results. An error means that
// the campaign cannot go on; a failed trial is none. Where ctx ends and the block
// goes on, a host of the unit went away: what ran has failed.
func (g *gathering) measure(ctx context.Context, all []*attempt) error {
	defer g.settle(all)
	if !g.pause(ctx) {
		if why := g.stopped(); why != nil {
			return why
		}
		return g.skip(g.block, indices(all), measure.AsError(context.Cause(ctx), measure.KindUnreachable))
	}
	var lost time.Time // when the unit was lost first
	for {
		if err := g.begin(all); err != nil {
			return err
		}
		if len(all) == 1 {
			g.runOne(ctx, all[0], nil)
		} else {
			g.runGroup(ctx, all)
		}
		if why := g.stopped(); why != nil && slices.ContainsFunc(all, func(a *attempt) bool { return a.result.Error != nil }) {
			return errors.Join(g.drop(all, why), why)
		}
		if ctx.Err() != nil {
			for _, a := range all {
				if a.result.Error != nil {
					a.result.Error = measure.AsError(context.Cause(ctx), measure.KindUnreachable)
				}
			}
		}
		host, why := g.whyLost(all, !lost.IsZero())
		if why == nil {
			return g.keep(g.campaign, all)
		}
		if lost.IsZero() {
			lost = time.Now()
		}
		if again, err := g.repeatLost(ctx, all, host, why, lost); !again {
			return err
		}
	}
}

// pause waits as long as the plan wants between two trials, before every trial
// of a run but its first. It returns false if ctx has ended.
func (g *gathering) pause(ctx context.Context) bool {
	g.mu.Lock()
	first := g.out.Ran == 0
	g.mu.Unlock()
	if !first && g.c.Plan.Pause > 0 {
		pause(ctx, g.c.Plan.Pause.Std())
	}
	return ctx.Err() == nil
}

// stopped is why trials are stopped that still run, nil while they are not.
func (g *gathering) stopped() *measure.Error {
	switch {
	case g.campaign.Err() != nil:
		return g.interrupted(g.campaign)
	case g.ctx.Err() != nil:
		return measure.AsError(context.Cause(g.ctx), measure.KindInterrupted)
	}
	return nil
}

func (r *run) interrupted(ctx context.Context) *measure.Error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if errors.Is(context.Cause(ctx), errTimeSpent) {
		return r.timeSpent()
	}
	return measure.Fail(measure.KindInterrupted, "campaign.interrupted", measure.Figures{
		"campaign": r.c.ID(), "done": r.out.Done, "trials": r.out.Total, "file": r.c.Plan.File, "cause": context.Cause(ctx),
	})
}

// begin gives the trials of a unit the identities of their results and records that they are
// about to begin.
func (g *gathering) begin(all []*attempt) error {
	records := make([]Record, len(all))
	for i, a := range all {
		now, key := g.Now(), a.job.Key()
		a.job.Result = measure.NewResultID(now)
		records[i] = Record{Kind: RecordTrialStarted, At: now.UTC(), Trial: &key, Order: a.job.Trial.Order, ResultID: a.job.Result, Repeats: a.lost}
	}
	if err := g.c.write(records...); err != nil {
		return err
	}
	for _, a := range all {
		g.emit(Event{Kind: EventTrial, Job: &a.job})
	}
	return nil
}

// runOne runs one trial to its end, and with b waits for its group before it
// starts.
func (g *gathering) runOne(ctx context.Context, a *attempt, b *barrier) {
	hooks := Hooks{Progress: func(p measure.Progress) { g.progress(a, p) }}
	if b != nil {
		b.join(a, &hooks)
	}
	if b == nil {
		a.result = g.runPatiently(ctx, a, hooks)
	} else {
		g.timed(a.job, func() { a.result = g.Runner.Run(ctx, a.job, hooks) })
	}
	// The campaign sets a result's test and identity: an endpoint that
	// repeats an identity would replace or hide the result of another trial.
	a.result.ID, a.result.Test = a.job.Result, a.job.Test
	g.mu.Lock()
	defer g.mu.Unlock()
	a.bytes = max(a.meter.bytes(), payload(a.result))
}

// runGroup runs the trials of a group, which start together.
func (g *gathering) runGroup(ctx context.Context, all []*attempt) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	b := newBarrier(all, cancel)
	var group sync.WaitGroup
	for _, a := range all {
		group.Go(func() {
			g.runOne(ctx, a, b)
			b.leave(a)
		})
	}
	group.Wait()
	b.into(all)
}

// timed runs a trial and counts the time it took.
func (g *gathering) timed(j Job, run func()) {
	begin := g.Now()
	g.mu.Lock()
	g.clock.began(begin)
	g.mu.Unlock()
	run()
	end := g.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.clock.ended(j, begin, end)
}

func indices(all []*attempt) []int {
	out := make([]int, len(all))
	for i, a := range all {
		out[i] = a.at
	}
	return out
}
