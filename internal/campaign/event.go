package campaign

import (
	"time"

	"soku/internal/measure"
)

// EventKind says what happened.
type EventKind int

// Events, in the order in which a block has them.
const (
	EventCommand     EventKind = iota // a before or after command begins
	EventCommandDone                  // it has ended
	EventTrial                        // a trial begins
	EventProgress                     // a live interval of it
	EventResult                       // its result is kept
)

// Event is what a person watching a campaign is told.
type Event struct {
	Kind     EventKind
	Job      *Job              // the trial; nil for commands
	Command  *CommandRecord    // for commands
	Progress *measure.Progress // for EventProgress
	Result   *measure.Result   // for EventResult

	Done, Failed, Total int           // trials of the selection
	Left                time.Duration // how long the rest will take, from what trials took so far
}

func (r *run) tell(e Event) {
	if r.Watch == nil {
		return
	}
	e.Done, e.Failed, e.Total = r.out.Done, r.out.Failed, r.out.Total
	e.Left = r.clock.left(r.c.Plan.Pause.Std(), r.out.Total-r.out.Done)
	r.Watch(e)
}

// clock foretells how long a run will take: the planned time of the trials that
// are left, stretched as those so far were, and the commands around them.
type clock struct {
	planned    time.Duration // of trials that are left
	ranPlanned time.Duration // of trials that ran
	ranTook    time.Duration // what they took
	blocks     int           // with commands, in all
	blocksDone int
	commands   time.Duration // what the commands took
}

func (c *clock) ran(j Job, took time.Duration) {
	length, _ := trialTime(j.Test, j.Options)
	c.planned -= length
	c.ranPlanned += length
	c.ranTook += took
}

func (c *clock) left(pause time.Duration, trials int) time.Duration {
	left := c.planned
	if c.ranPlanned > 0 {
		left = time.Duration(float64(left) * float64(c.ranTook) / float64(c.ranPlanned))
	}
	if c.blocksDone > 0 && c.blocks > c.blocksDone {
		left += c.commands / time.Duration(c.blocksDone) * time.Duration(c.blocks-c.blocksDone)
	}
	return max(0, left+pause*time.Duration(max(0, trials-1)))
}
