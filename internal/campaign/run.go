package campaign

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
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
	// Confirm waits until a person has changed factors that are changed by hand. An error, or the end of ctx, ends the run. nil: plans with such factors
	// are refused.
	Confirm func(context.Context, HandChange) (journal.Confirmed, error)
	// Watch gets the events, if it is not nil. It is called by one goroutine
	// at a time and must return within a few milliseconds.
	Watch func(Event)
	// Only selects the patterns to run now; if it is empty, all run.
	Only plan.Selection
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
	// Reserve waits until the hosts of trials, those of a group together, are free of other campaigns. release is
	// called when they have ended. An error is the cause of ctx. nil: no other campaign uses the hosts.
	Reserve func(ctx context.Context, trials []schedule.Job) (release func(), err error)
	// Blocked are pairs whose trials do not run, with the reason: their ends do not reach each other.
	Blocked map[schedule.EndpointPair]*measure.Error
	// Blocks is what to run; nil: [Campaign.Blocks]. It must give the same blocks
	// each time it is called, but for blocks at the end that came to be later.
	Blocks func(c *Campaign) iter.Seq[schedule.Block]
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

// HostChange reports that a host went away or came back.
type HostChange struct {
	Host string // as in [schedule.Block.Hosts]
	Gone error  // why it went away; nil: it came back
}

// run is one run of a campaign.
type run struct {
	*Executor
	c            *Campaign
	session      measure.Session
	began        time.Time
	workedBefore time.Duration // of the runs before this one

	// Used by the goroutine that started the run alone.
	hosts      <-chan HostChange
	gone       map[string]*measure.Error // hosts that went away, with the reason
	counted    int                       // rounds when the trials were counted
	roundsRun  int                       // rounds in which a trial ran
	timed      int                       // round whose time has come, or 0
	slot       int                       // which of the times that was, from 0
	byHand     []measure.Level           // that were confirmed last
	changes    int                       // by hand that were confirmed
	allChanges int                       // by hand that the run needs, or 0 if it is unknown
	rows       map[schedule.EndpointPair]failureRow
	aborted    map[schedule.EndpointPair]bool // pairs whose trials do not run any more

	keeping sync.Mutex // while results are written to journal and store

	mu      sync.Mutex // for what follows; never held while something is written
	out     Outcome
	clock   clock
	running map[*attempt]bool
	silent  map[string]bool // servers that were waited for in vain
	ended   int64           // payload that all trials moved which do not run any more
}

// failureRow is the failures of a pair since its last trial that went otherwise.
type failureRow struct {
	failure string // what they have in common
	trials  int
	pattern string                // of the first
	several bool                  // patterns
	pair    schedule.EndpointPair // of the first
	pairs   bool                  // several pairs
}

// attempt is one trial that runs, or is about to.
type attempt struct {
	at      int // in the block
	job     schedule.Job
	planned int64     // payload, where it is known in advance
	started time.Time // when it was released with its group; zero before

	startError time.Duration // started is known within ± this

	former string // identity of its result, if a former run began the trial and it may go on without that, or empty
	lost   string // identity of the result that was lost before, or empty
	meter  meter  // of the running trial; under run.mu
	result *measure.Result
	bytes  int64 // payload it moved; valid with result
}

// meter adds up the payload of a running trial from its live intervals. Both
// ends may report the same direction: the larger count is the payload.
type meter struct{ sums map[meterKey]int64 }

type meterKey struct {
	direction measure.Direction
	role      measure.Role
}

func (m *meter) add(p measure.Progress) {
	if m.sums == nil {
		m.sums = map[meterKey]int64{}
	}
	m.sums[meterKey{p.Direction, p.Role}] += p.Bytes
}

func (m *meter) bytes() int64 {
	most := map[measure.Direction]int64{}
	for k, n := range m.sums {
		most[k.direction] = max(most[k.direction], n)
	}
	var total int64
	for _, n := range most {
		total += n
	}
	return total
}

func (r *run) schedule() iter.Seq[schedule.Block] {
	if r.Blocks != nil {
		return r.Blocks(r.c)
	}
	return r.c.Blocks()
}

// searches reports whether the run chooses levels by what it measures.
func (r *run) searches() bool { return r.Blocks == nil && r.c.Plan.Searches() }

// emit reports an event to Watch.
func (r *run) emit(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report(e)
}

// report is emit under r.mu.
func (r *run) report(e Event) {
	if r.Watch == nil {
		return
	}
	e.Done, e.Failed, e.Total = r.out.Done, r.out.Failed, r.out.Total
	e.Left = r.clock.left(r.Now(), r.c.Plan.Pause.Std(), r.out.Total-r.out.Done-r.out.Skipped)
	e.Width = r.c.width(r.Only)
	if r.out.Enough != nil {
		e.Open, e.Compared = r.out.Enough.Open, r.out.Enough.Compared
	}
	r.Watch(e)
}

// errTimeSpent is why the context of a run ended whose campaign has used its time.
var errTimeSpent = errors.New("the campaign has used its time")

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

// timeSpent is the failure of a campaign that has used its time.
func (r *run) timeSpent() *measure.Error {
	return measure.Fail(measure.KindRefused, "campaign.time_budget", measure.Figures{
		"campaign": r.c.ID(), "time_ns": r.c.Plan.Budget.Time, "done": r.out.Done, "trials": r.out.Total, "file": r.c.Plan.File,
	})
}
