package campaign

import (
	"context"
	"iter"
	"os"
	"sync"
	"time"

	"soku/internal/measure"
	"soku/internal/store"
)

// Executor takes a campaign through its schedule: command, trial, journal,
// store. Blocks run one after the other; within a block it starts whatever has
// all its hosts free, up to a limit. A goroutine runs each trial; the caller's
// starts and gathers them.
type Executor struct {
	Runner Runner
	Store  store.Store
	// Command runs a before or after command with more environment and returns
	// what it printed.
	Command func(ctx context.Context, text string, environment []string) (output []byte, err error)
	// Confirm waits until a person has given factors that are changed by hand these
	// levels. An error, or the end of ctx, ends the run. nil: plans with such factors
	// are refused.
	Confirm func(ctx context.Context, levels []measure.Level) (Confirmed, error)
	// Watch gets the events, if it is not nil. It is called by one goroutine
	// at a time and must return within a few milliseconds.
	Watch func(Event)
	// Only selects the patterns to run now; if it is empty, all run.
	Only Selection
	// RetryFailed also runs the trials again that have failed. Their new results
	// say which they replace; the old ones stay.
	RetryFailed bool
	// Patience is how long a trial tries to reach a server that refuses connections or does
	// not answer, as during a restart. If it is 0, the trial fails immediately, as does a trial of a group.
	// It is also how long a trial that was lost ([agent.Lost]), or its group, is repeated; then it
	// counts as not run.
	Patience time.Duration
	Version  string // of this program, for the journal
	Now      func() time.Time

	// Limit is how many trials run concurrently. With 0 or 1 they run one after the
	// other in the planned order. With more, hosts get their next trial as soon as
	// they come free, or in a planned order if they are few, and the journal has the order that came of it. A group of
	// more trials than the limit runs by itself.
	Limit int
	// Hosts reports which hosts go away and come back, and is read while trials
	// run. nil: all hosts stay available.
	Hosts <-chan HostChange
	// Blocks is what to run; nil: [Campaign.Blocks]. It must give the same blocks
	// each time it is called, but for blocks at the end that came to be later.
	Blocks func(c *Campaign) iter.Seq[Block]
}

// Outcome is where a campaign stands after a run.
type Outcome struct {
	Total   int     // trials selected
	Done    int     // of them with a result, failed ones included
	Failed  int     // of them whose newest result is an error
	Ran     int     // trials that left a result in this run
	Skipped int     // trials that did not run in this run because a host went away, or others between their ends failed in a row
	Left    int     // of the whole campaign, also those not selected
	Enough  *Enough // whether the intervals are narrow, or nil if the plan has no until or the run ended before
}

// Run runs the trials that are selected and left. It returns an error of kind
//
//   - incomplete: trials failed, or were skipped because a host went away or trials
//     between their ends failed in a row; all other selected trials have a result;
//   - interrupted: ctx ended; trials that ran count as not run;
//   - refused: a member of the plan's budget is reached;
//   - store: the journal or the store cannot be written.
//
// After each of them the campaign can be resumed. The Outcome is also valid
// with an error.
func (e *Executor) Run(ctx context.Context, c *Campaign) (Outcome, error) {
	r := &run{Executor: e, c: c, hosts: e.Hosts, gone: map[string]*measure.Error{}, running: map[*attempt]bool{}, silent: map[string]bool{},
		rows: map[ends]failureRow{}, aborted: map[ends]bool{}}
	_, err := c.Refill(ctx, r.Store, r.conflict)
	if err == nil {
		r.session, r.workedBefore, r.began = c.nextSession(r.Now()), c.Worked(), r.Now()
		err = c.write(Record{Kind: RecordStarted, At: r.Now().UTC(), Run: &RunRecord{Session: &r.session,
			Only: e.Only, RetryFailed: e.RetryFailed, Version: e.Version, PID: os.Getpid()}})
	}
	if err == nil {
		r.ended = c.moved()
		within, stop := r.withinTime(ctx)
		err = r.blocks(within)
		stop()
		if counted := r.recordTrials(); err == nil {
			err = counted
		}
	}
	done, _ := c.Done()
	r.out.Left = c.Trials() - done
	if err == nil {
		err = r.incomplete()
	}
	ended := Record{Kind: RecordEnded, At: r.Now().UTC(), Reason: "all selected trials have a result"}
	if err != nil {
		ended.Reason, ended.Code = err.Error(), measure.AsError(err, measure.KindInternal).Code
	}
	// On a full disk this fails as well; what matters has been written by then.
	_ = c.write(ended)
	return r.out, err
}

// incomplete is the error for a run that came to its end without all results.
func (r *run) incomplete() error {
	switch {
	case r.out.Skipped > 0 && r.out.Failed > 0:
		return measure.Fail(measure.KindIncomplete, "campaign.skipped_and_failed", measure.Figures{
			"skipped": r.out.Skipped, "trials": r.out.Total, "failed": r.out.Failed, "file": r.c.Plan.File, "pairs": r.abortedPairs(),
		})
	case r.out.Skipped > 0:
		return measure.Fail(measure.KindIncomplete, "campaign.skipped", measure.Figures{
			"skipped": r.out.Skipped, "trials": r.out.Total, "journal": r.c.JournalName(), "file": r.c.Plan.File, "pairs": r.abortedPairs(),
		})
	case r.out.Failed > 0:
		return measure.Fail(measure.KindIncomplete, "campaign.failed", measure.Figures{
			"failed": r.out.Failed, "trials": r.out.Total, "campaign": r.c.ID(), "file": r.c.Plan.File,
		})
	}
	return nil
}

// run is one run of a campaign.
type run struct {
	*Executor
	c            *Campaign
	session      measure.Session
	began        time.Time
	workedBefore time.Duration // of the runs before this one

	// Used by the goroutine that started the run alone.
	hosts     <-chan HostChange
	gone      map[string]*measure.Error // hosts that went away, with the reason
	counted   int                       // rounds when the trials were counted
	roundsRun int                       // rounds in which a trial ran
	byHand    []measure.Level           // that were confirmed last
	rows      map[ends]failureRow
	aborted   map[ends]bool // pairs whose trials do not run any more

	keeping sync.Mutex // while results are written to journal and store

	mu      sync.Mutex // for what follows; never held while something is written
	out     Outcome
	clock   clock
	running map[*attempt]bool
	silent  map[string]bool // servers that were waited for in vain
	ended   int64           // payload that all trials moved which do not run any more
}

// blocks runs the schedule. Rounds may be added to its end meanwhile, and after it.
func (r *run) blocks(ctx context.Context) error {
	last, lastRan := 0, 0
	for more := true; more; {
		before := last
		for b := range r.schedule() {
			if b.Round <= before {
				continue // of a pass before
			}
			begins := b.Round != last
			last = b.Round
			// The results of a search in the round before decide how many trials there are.
			if r.counted != r.c.Rounds() || begins && r.searches() {
				r.count()
			}
			ran := r.out.Ran
			if err := r.block(ctx, b); err != nil {
				return err
			}
			if r.out.Ran > ran && b.Round != lastRan {
				lastRan = b.Round
				r.roundsRun++
			}
		}
		var err error
		if more, err = r.extend(); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) schedule() iter.Seq[Block] {
	if r.Blocks != nil {
		return r.Blocks(r.c)
	}
	return r.c.Blocks()
}

// due are the first trials of the units of a block that are to run now. each
// gets what every trial of the block has left; it may be nil. All trials of a
// group run again if one of them does.
func (r *run) due(b Block, each func(o outcome, done bool)) []int {
	if !r.Only.Matches(b.Pattern.Levels) {
		return nil
	}
	var out []int
	for i := 0; i < b.Len; {
		u, due := b.unit(i), false
		for ; i < u.first+u.count; i++ {
			o, done := r.c.outcome(b.Job(i).Key())
			due = due || !done || o.failed && r.RetryFailed
			if each != nil {
				each(o, done)
			}
		}
		if due {
			out = append(out, u.first)
		}
	}
	return out
}

func plannedTime(b Block, u unit) time.Duration {
	var sum time.Duration
	for i := range u.count {
		j := b.Job(u.first + i)
		length, _ := trialTime(j.Test, j.Options)
		sum += length
	}
	return sum
}
