package campaign

import (
	"context"
	"sync"

	"soku/internal/campaign/journal"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
)

// former is the identity of the result that a trial will have which a run before this one began and no record ends, if it may go
// on without that run: its client is the agent of a hub. It is empty otherwise.
func (r *run) former(j schedule.Job) string {
	if j.Client.Agent == "" {
		return ""
	}
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	return r.c.outcomes.begun[r.c.outcomes.compact(j.Key())]
}

// leftTrials reports whether a trial began and no record ends it.
func (c *Campaign) leftTrials() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.outcomes.begun) > 0
}

// formerFirst returns the units to queue first: those of trials that a former run began, because their hosts still measure, or all
// if there are none. The others are queued when these have ended.
func (g *blockRun) formerFirst(units []int) []int {
	var first []int
	if !g.c.leftTrials() {
		return units
	}
	for _, at := range units {
		if u := g.block.Unit(at); g.anyFormer(u) {
			first = append(first, at)
		} else {
			g.later = append(g.later, at)
		}
	}
	if len(first) == 0 {
		g.later, first = nil, units
	}
	return first
}

func (g *blockRun) anyFormer(u schedule.Unit) bool {
	for i := range u.Count {
		if g.former(g.block.Job(u.First+i)) != "" {
			return true
		}
	}
	return false
}

// queueLater queues the units that waited for those of former runs.
func (g *blockRun) queueLater() error {
	for _, first := range g.later {
		g.queue.Add(first)
	}
	g.later = nil
	return g.loseGone()
}

// stopFormer ends the trials of a group that a former run began: whether all started together is not known, so the group is
// measured again. An error is that of the journal.
func (g *blockRun) stopFormer(ctx context.Context, all []*attempt) error {
	why := measure.Fail(measure.KindInterrupted, "campaign.group_left", nil)
	stopped, stop := context.WithCancelCause(ctx)
	stop(why)
	var group sync.WaitGroup
	var records []journal.Record
	for _, a := range all {
		if a.former == "" {
			continue
		}
		j := a.job
		j.Result, j.Former, a.former = a.former, true, ""
		records = append(records, g.dropped(j, 0, why))
		group.Go(func() { g.Runner.Run(stopped, j, Hooks{}) })
	}
	group.Wait()
	if len(records) == 0 {
		return nil
	}
	return g.c.write(records...)
}
