package campaign

import (
	"context"
	"time"

	"soku/internal/campaign/schedule"
	"soku/internal/measure"
)

// blockRun is the units of a block while they wait and run. One goroutine uses
// it: it starts units and gathers those that have ended.
type blockRun struct {
	*run
	block    schedule.Block
	queue    *schedule.Queue
	ongoing  map[*ongoing]bool
	later    []int          // units that are queued when those of former runs have ended
	trials   int            // of all ongoing units
	over     chan *ongoing  // units that have ended
	deferred *schedule.Unit // taken, and waiting for the byte cap to have room
	gap      quietGap       // of an arranged block
	arranged bool
	err      error // why no further unit starts

	campaign context.Context // ends when the campaign is to stop
	ctx      context.Context // ends also when this block is to stop
	stop     context.CancelCauseFunc
}

// ongoing is a unit that runs.
type ongoing struct {
	unit   schedule.Unit
	all    []*attempt
	cancel context.CancelCauseFunc
	began  time.Time
	length time.Duration // of its first trial, as planned
	err    error         // why the campaign cannot go on; valid when the unit has ended
}

// length is how long a unit takes as planned, by its first trial.
func (g *blockRun) length(first int) time.Duration {
	j := g.block.Job(first)
	planned, _ := schedule.TrialTime(j.Test, j.Options)
	return planned + g.c.Plan.Pause.Std()
}

// stopped is why trials are stopped that still run, nil while they are not.
func (g *blockRun) stopped() *measure.Error {
	switch {
	case g.campaign.Err() != nil:
		return g.interrupted(g.campaign)
	case g.ctx.Err() != nil:
		return measure.AsError(context.Cause(g.ctx), measure.KindInterrupted)
	}
	return nil
}

// quietGap is the time between the first end of trials that began together and the next
// starts: hosts of an arranged block wait for each other for a part of a trial.
type quietGap struct {
	since  time.Time     // the first of them ended; zero: there is none
	began  time.Time     // the first of them began
	length time.Duration // of a trial, as planned
}

// most is how long hosts wait.
func (l quietGap) most() time.Duration { return l.length / 4 }

// left is how long the hosts of an arranged block still wait for those whose trials began
// with one that has ended; 0 where nothing else is to come free in time, or is wanted.
func (g *blockRun) gapLeft() time.Duration {
	l := g.gap
	if l.since.IsZero() {
		return 0
	}
	left := l.most() - time.Since(l.since)
	for o := range g.ongoing {
		if o.length == l.length && o.began.Sub(l.began).Abs() <= l.most() && left > 0 && g.queue.WantsBusyHosts() {
			return left
		}
	}
	g.gap = quietGap{}
	return 0
}
