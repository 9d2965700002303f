package campaign

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"soku/internal/agent"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
)

// newBlockRun makes the queue of a block's units that are to run now, without those
// whose hosts are gone.
func (r *run) newBlockRun(b schedule.Block) (*blockRun, error) {
	g := &blockRun{run: r, block: b, ongoing: map[*ongoing]bool{}, over: make(chan *ongoing)}
	var units []int
	for _, first := range r.due(b, nil) {
		if u := b.Unit(first); r.isAborted(b, u) {
			r.leave(b, u)
			continue
		}
		units = append(units, first)
	}
	order := schedule.Arrange(b, slices.Values(units), r.Limit, g.length)
	if g.arranged = order != nil; g.arranged {
		units = order
	}
	g.queue = schedule.NewQueue(b, r.Limit <= 1 || g.arranged)
	for _, first := range g.formerFirst(units) {
		g.queue.Add(first)
	}
	for {
		select {
		case h, ok := <-r.hosts:
			if err := g.hostEvent(h, ok); err != nil {
				return nil, err
			}
			continue
		default:
		}
		return g, g.loseGone()
	}
}

// hostEvent takes note of what the channel of hosts gave.
func (g *blockRun) hostEvent(h HostChange, ok bool) error {
	if !ok {
		g.hosts = nil // closed: nothing more will change
		return nil
	}
	return g.hostChanged(h)
}

// notRun gives every trial that waits the same error, without running it.
func (g *blockRun) notRun(ctx context.Context, why *measure.Error) error {
	for {
		u, ok := g.queue.Take(math.MaxInt)
		if more := !ok && len(g.later) > 0; more {
			if err := g.queueLater(); err != nil {
				return err
			}
			continue
		}
		if !ok {
			return nil
		}
		all := g.attempts(u)
		for _, a := range all {
			a.result = specOf(a.job, agent.Access{}).NotRun(g.Now(), why)
		}
		g.leaveOut(g.block, u)
		if err := g.keep(ctx, all); err != nil {
			return err
		}
		g.queue.Release(u)
	}
}

// runAll starts what has its hosts free until nothing waits or runs any more. If
// ctx ends, or a unit cannot be kept, those that run are stopped and awaited.
func (g *blockRun) runAll(ctx context.Context) error {
	g.campaign = ctx
	g.ctx, g.stop = context.WithCancelCause(ctx)
	defer g.stop(nil)
	for {
		wait := g.gapLeft()
		if wait == 0 {
			g.start()
		}
		if len(g.ongoing) == 0 && len(g.later) > 0 && g.err == nil && ctx.Err() == nil {
			g.err = g.queueLater()
			continue
		}
		if len(g.ongoing) == 0 {
			break
		}
		var soon <-chan time.Time
		if wait > 0 {
			soon = time.After(wait)
		}
		select {
		case <-soon:
		case o := <-g.over:
			g.unitEnded(o)
		case h, ok := <-g.hosts:
			if err := g.hostEvent(h, ok); err != nil && g.err == nil {
				g.err = err
			}
		}
		if g.err != nil {
			g.stop(g.err)
		}
	}
	if g.err == nil && ctx.Err() != nil && (g.queue.Waiting > 0 || len(g.later) > 0 || g.deferred != nil) {
		g.err = g.interrupted(ctx)
	}
	return g.err
}

// start starts all units that can run now.
func (g *blockRun) start() {
	for g.err == nil && g.ctx.Err() == nil {
		u, ok := g.next()
		if !ok {
			return
		}
		if g.isAborted(g.block, u) {
			g.queue.Release(u)
			g.leave(g.block, u)
			continue
		}
		all := g.attempts(u)
		if why := g.admit(all); why != nil {
			if len(g.ongoing) == 0 {
				g.err = why
			}
			g.deferred = &u
			return
		}
		ctx, cancel := context.WithCancelCause(g.ctx)
		o := &ongoing{unit: u, all: all, cancel: cancel, began: time.Now(), length: g.length(u.First)}
		g.ongoing[o] = true
		g.trials += u.Count
		g.leaveOut(g.block, u)
		go func() {
			o.err = g.measure(ctx, all)
			g.over <- o
		}()
	}
}

// next is the unit that was held back, or one that the queue chooses.
func (g *blockRun) next() (schedule.Unit, bool) {
	if g.deferred != nil {
		u := *g.deferred
		g.deferred = nil
		return u, true
	}
	room := max(g.Limit, 1) - g.trials
	if g.trials == 0 {
		room = math.MaxInt // a group may be larger than the limit
	}
	return g.queue.Take(room)
}

func (g *blockRun) unitEnded(o *ongoing) {
	o.cancel(nil)
	delete(g.ongoing, o)
	g.trials -= o.unit.Count
	g.queue.Release(o.unit)
	if g.arranged && g.gap.since.IsZero() {
		g.gap = quietGap{since: time.Now(), began: o.began, length: o.length}
	}
	for _, a := range o.all {
		if o.err == nil && a.result != nil { // it ran
			o.err = g.countFailure(a)
		}
	}
	if g.err == nil {
		g.err = o.err
	}
}

// attempts are the trials of a unit before they run, with what is known of them only now; those whose ends do not reach each other
// are left out.
func (g *blockRun) attempts(u schedule.Unit) []*attempt {
	var all []*attempt
	for i := range u.Count {
		j := g.block.Job(u.First + i)
		if g.Blocked[j.Endpoints()] != nil {
			continue
		}
		j.Trial.Session = &g.session
		a := &attempt{at: u.First + i, job: j, former: g.former(j)}
		a.planned, _ = schedule.TrialBytes(j.Test, j.Options)
		all = append(all, a)
	}
	if len(all) > 1 {
		id := fmt.Sprintf("%d.%d", g.block.Round, g.block.Job(u.First).Trial.Order)
		for _, a := range all {
			a.job.Trial.Group = &measure.Group{ID: id, Trials: len(all)}
		}
	}
	return all
}
