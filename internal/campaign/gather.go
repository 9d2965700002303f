package campaign

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"soku/internal/agent"
	"soku/internal/measure"
)

// gathering is the units of a block while they wait and run. One goroutine uses
// it: it starts units and gathers those that have ended.
type gathering struct {
	*run
	block    Block
	queue    *queue
	ongoing  map[*ongoing]bool
	trials   int           // of all ongoing units
	over     chan *ongoing // units that have ended
	held     *unit         // taken, and waiting for the byte cap to have room
	lull     lull          // of an arranged block
	arranged bool
	err      error // why no further unit starts

	campaign context.Context // ends when the campaign is to stop
	ctx      context.Context // ends also when this block is to stop
	stop     context.CancelCauseFunc
}

// ongoing is a unit that runs.
type ongoing struct {
	unit   unit
	all    []*attempt
	cancel context.CancelCauseFunc
	began  time.Time
	length time.Duration // of its first trial, as planned
	err    error         // why the campaign cannot go on; valid when the unit has ended
}

// gather makes the queue of a block's units that are to run now, without those
// whose hosts are gone.
func (r *run) gather(b Block) (*gathering, error) {
	g := &gathering{run: r, block: b, ongoing: map[*ongoing]bool{}, over: make(chan *ongoing)}
	var units []int
	for _, first := range r.due(b, nil) {
		if u := b.unit(first); r.isAborted(b, u) {
			r.leave(b, u)
			continue
		}
		units = append(units, first)
	}
	order := arrange(b, slices.Values(units), r.Limit, g.length)
	if g.arranged = order != nil; g.arranged {
		units = order
	}
	g.queue = newQueue(b, r.Limit <= 1 || g.arranged)
	for _, first := range units {
		g.queue.add(first)
	}
	for {
		select {
		case h, ok := <-r.hosts:
			if err := g.heard(h, ok); err != nil {
				return nil, err
			}
			continue
		default:
		}
		return g, g.loseGone()
	}
}

// length is how long a unit takes as planned, by its first trial.
func (g *gathering) length(first int) time.Duration {
	j := g.block.Job(first)
	planned, _ := trialTime(j.Test, j.Options)
	return planned + g.c.Plan.Pause.Std()
}

// heard takes note of what the channel of hosts gave.
func (g *gathering) heard(h HostChange, ok bool) error {
	if !ok {
		g.hosts = nil // closed: nothing more will change
		return nil
	}
	return g.hostChanged(h)
}

// notRun gives every trial that waits the same error, without running it.
func (g *gathering) notRun(ctx context.Context, why *measure.Error) error {
	for {
		u, ok := g.queue.take(math.MaxInt)
		if !ok {
			return nil
		}
		var all []*attempt
		for _, j := range g.jobs(u) {
			all = append(all, &attempt{job: j, result: specOf(j, agent.Access{}).NotRun(g.Now(), why)})
		}
		if err := g.keep(ctx, all); err != nil {
			return err
		}
		g.queue.release(u)
	}
}

// runAll starts what has its hosts free until nothing waits or runs any more. If
// ctx ends, or a unit cannot be kept, those that run are stopped and awaited.
func (g *gathering) runAll(ctx context.Context) error {
	g.campaign = ctx
	g.ctx, g.stop = context.WithCancelCause(ctx)
	defer g.stop(nil)
	for {
		wait := g.lullLeft()
		if wait == 0 {
			g.start()
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
			g.gathered(o)
		case h, ok := <-g.hosts:
			if err := g.heard(h, ok); err != nil && g.err == nil {
				g.err = err
			}
		}
		if g.err != nil {
			g.stop(g.err)
		}
	}
	if g.err == nil && ctx.Err() != nil && (g.queue.waiting > 0 || g.held != nil) {
		g.err = g.interrupted(ctx)
	}
	return g.err
}

// start starts all units that can run now.
func (g *gathering) start() {
	for g.err == nil && g.ctx.Err() == nil {
		u, ok := g.next()
		if !ok {
			return
		}
		if g.isAborted(g.block, u) {
			g.queue.release(u)
			g.leave(g.block, u)
			continue
		}
		all := g.attempts(u)
		if why := g.admit(all); why != nil {
			if len(g.ongoing) == 0 {
				g.err = why
			}
			g.held = &u
			return
		}
		ctx, cancel := context.WithCancelCause(g.ctx)
		o := &ongoing{unit: u, all: all, cancel: cancel, began: time.Now(), length: g.length(u.first)}
		g.ongoing[o] = true
		g.trials += u.count
		go func() {
			o.err = g.measure(ctx, all)
			g.over <- o
		}()
	}
}

// next is the unit that was held back, or one that the queue chooses.
func (g *gathering) next() (unit, bool) {
	if g.held != nil {
		u := *g.held
		g.held = nil
		return u, true
	}
	room := max(g.Limit, 1) - g.trials
	if g.trials == 0 {
		room = math.MaxInt // a group may be larger than the limit
	}
	return g.queue.take(room)
}

func (g *gathering) gathered(o *ongoing) {
	o.cancel(nil)
	delete(g.ongoing, o)
	g.trials -= o.unit.count
	g.queue.release(o.unit)
	if g.arranged && g.lull.since.IsZero() {
		g.lull = lull{since: time.Now(), began: o.began, length: o.length}
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

// jobs are the trials of a unit with what is known of them only now.
func (g *gathering) jobs(u unit) []Job {
	jobs := make([]Job, u.count)
	for i := range jobs {
		jobs[i] = g.block.Job(u.first + i)
		jobs[i].Trial.Session = &g.session
		if u.count > 1 {
			jobs[i].Trial.Group = &measure.Group{ID: fmt.Sprintf("%d.%d", g.block.Round, jobs[0].Trial.Order), Trials: u.count}
		}
	}
	return jobs
}

// attempts are the trials of a unit before they run.
func (g *gathering) attempts(u unit) []*attempt {
	var all []*attempt
	for i, j := range g.jobs(u) {
		a := &attempt{at: u.first + i, job: j}
		a.planned, _ = trialBytes(j.Test, j.Options)
		all = append(all, a)
	}
	return all
}
