package campaign

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"soku/internal/campaign/journal"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
)

// measure runs the trials of a unit and keeps their results. An error means that
// the campaign cannot go on; a failed trial is none. Where ctx ends and the block
// goes on, a host of the unit went away: its trials count as not run.
func (g *blockRun) measure(ctx context.Context, all []*attempt) error {
	defer g.settle(all)
	release, ok := g.await(ctx, all)
	if !ok {
		if why := g.stopped(); why != nil {
			return why
		}
		return g.skip(g.block, indices(all), measure.AsError(context.Cause(ctx), measure.KindUnreachable))
	}
	defer release()
	if len(all) > 1 {
		if err := g.stopFormer(ctx, all); err != nil {
			return err
		}
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
		failed := slices.ContainsFunc(all, func(a *attempt) bool { return a.result.Error != nil })
		if why := g.stopped(); why != nil && failed {
			return errors.Join(g.drop(all, why), why)
		}
		if ctx.Err() != nil && failed {
			return g.abandon(all, measure.AsError(context.Cause(ctx), measure.KindUnreachable))
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

// await waits until a unit may begin: for the pause before it, and for its hosts. ok is false if ctx has ended.
func (g *blockRun) await(ctx context.Context, all []*attempt) (release func(), ok bool) {
	if !g.pause(ctx) {
		return nil, false
	}
	if g.Reserve == nil {
		return func() {}, true
	}
	jobs := make([]schedule.Job, len(all))
	for i, a := range all {
		jobs[i] = a.job
	}
	release, err := g.Reserve(ctx, jobs)
	return release, err == nil
}

// pause waits as long as the plan wants between two trials, before every trial
// of a run but its first. It returns false if ctx has ended.
func (g *blockRun) pause(ctx context.Context) bool {
	g.mu.Lock()
	first := g.out.Ran == 0
	g.mu.Unlock()
	if !first && g.c.Plan.Pause > 0 {
		pause(ctx, g.c.Plan.Pause.Std())
	}
	return ctx.Err() == nil
}

// begin gives the trials of a unit the identities of their results and records that they are
// about to begin.
func (g *blockRun) begin(all []*attempt) error {
	records := make([]journal.Record, len(all))
	for i, a := range all {
		now, key := g.Now(), a.job.Key()
		a.job.Result, a.job.Former = cmp.Or(a.former, measure.NewResultID(now)), a.former != ""
		a.former = "" // if it is lost, it is measured again
		records[i] = journal.Record{Kind: journal.RecordTrialStarted, At: now.UTC(), Trial: &key, Order: a.job.Trial.Order, ResultID: a.job.Result, Repeats: a.lost}
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
func (g *blockRun) runOne(ctx context.Context, a *attempt, b *barrier) {
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
func (g *blockRun) runGroup(ctx context.Context, all []*attempt) {
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

func indices(all []*attempt) []int {
	out := make([]int, len(all))
	for i, a := range all {
		out[i] = a.at
	}
	return out
}
