package campaign

import (
	"time"

	"soku/internal/campaign/journal"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
)

// EventKind says what happened.
type EventKind int

// Events, in the order in which a block has them.
const (
	EventCommand      EventKind = iota // a before or after command begins
	EventCommandDone                   // it has ended
	EventTrial                         // a trial begins
	EventProgress                      // a live interval of it
	EventResult                        // its result is kept
	EventHostGone                      // a host went away; at any time
	EventWaiting                       // a trial's server cannot be reached and is waited for
	EventConflict                      // the store has another result with the identity of one of the campaign, for Error
	EventAborted                       // the trials that are left between two ends do not run now
	EventRoundAwaited                  // a round begins later, at its time
	EventRoundsMissed                  // rounds are left out, because their times passed
)

// Event is an event of a campaign for people who watch it.
type Event struct {
	Kind     EventKind
	Job      *schedule.Job          // the trial, or nil for a command
	Command  *journal.CommandRecord // for commands
	Progress *measure.Progress      // for EventProgress
	Result   *measure.Result        // for EventResult
	Host     string                 // for EventHostGone
	Wait     time.Duration          // for EventWaiting: at most so long
	Round    int                    // for EventRoundAwaited
	At       time.Time              // for EventRoundAwaited: when it begins
	Missed   int                    // for EventRoundAwaited: times that the round before missed; for EventRoundsMissed: rounds
	Error    *measure.Error         // for EventHostGone, EventWaiting and EventAborted: why; for EventCommandDone, if the command failed

	Done, Failed, Total int           // trials of the selection
	Left                time.Duration // how long the rest will take, from what trials took so far
	// Width is half of the widest interval over its mean, of a campaign with until; 0 while
	// it is unknown.
	Width float64
	// Open of Compared comparisons were undecided at the last interim analysis, in a campaign
	// that goes on until all are decided. Both are 0 before the first one.
	Open, Compared int
}

// clock estimates how long a run will take: the planned time of the trials that are left,
// scaled by how long those so far took and divided by how many ran concurrently,
// and the commands around them.
type clock struct {
	planned    time.Duration // of trials that are left
	ranPlanned time.Duration // of trials that ran
	ranTook    time.Duration // what they took, each by itself
	blocks     int           // with commands, in all
	blocksDone int
	commands   time.Duration // what the commands took
	lastRound  time.Time     // when the last round begins, of a plan whose rounds have times
	roundsLeft int           // until then, the one that runs among them

	running int
	busy    time.Duration // in which trials ran, until all had ended
	since   time.Time     // from when trials have been running again
}

func (c *clock) began(now time.Time) {
	if c.running == 0 {
		c.since = now
	}
	c.running++
}

func (c *clock) ended(j schedule.Job, begin, end time.Time) {
	length, _ := schedule.TrialTime(j.Test, j.Options)
	c.planned -= length
	c.ranPlanned += length
	c.ranTook += end.Sub(begin)
	if c.running--; c.running == 0 {
		c.busy += end.Sub(c.since)
	}
}

// atOnce is how many trials ran at the same time, on average; at least 1.
func (c *clock) atOnce(now time.Time) float64 {
	busy := c.busy
	if c.running > 0 {
		busy += now.Sub(c.since)
	}
	if busy <= 0 {
		return 1
	}
	return max(1, float64(c.ranTook)/float64(busy))
}

func (c *clock) left(now time.Time, pause time.Duration, trials int) time.Duration {
	left := c.planned
	if c.ranPlanned > 0 {
		left = time.Duration(float64(left) * float64(c.ranTook) / float64(c.ranPlanned))
	}
	left = time.Duration(float64(left+pause*time.Duration(max(0, trials-1))) / c.atOnce(now))
	if c.blocksDone > 0 && c.blocks > c.blocksDone {
		left += c.commands / time.Duration(c.blocksDone) * time.Duration(c.blocks-c.blocksDone)
	}
	if c.roundsLeft > 0 {
		left = max(left, c.lastRound.Sub(now)+left/time.Duration(c.roundsLeft))
	}
	return max(0, left)
}
