package campaign

import (
	"context"
	"os"
	"time"

	"soku/internal/agent"
	"soku/internal/measure"
	"soku/internal/store"
)

// Executor takes a campaign through its schedule: command, trial, journal,
// store. It runs one trial at a time, on the caller's goroutine.
type Executor struct {
	Runner Runner
	Store  store.Store
	// Command runs a before or after command with more environment and returns
	// what it printed.
	Command func(ctx context.Context, text string, environment []string) (output []byte, err error)
	// Watch is told what happens, if it is not nil. It must return within a few
	// milliseconds.
	Watch func(Event)
	// Only selects the patterns to run now; empty for all.
	Only Selection
	// RetryFailed also runs the trials again that have failed. Their new results
	// say which they replace; the old ones stay.
	RetryFailed bool
	Version     string // of this program, for the journal
	Now         func() time.Time
}

// Outcome is where a campaign stands after a run.
type Outcome struct {
	Total  int // trials selected
	Done   int // of them with a result, failed ones included
	Failed int // of them whose newest result is an error
	Ran    int // trials that left a result in this run
	Left   int // of the whole campaign, also those not selected
}

// Run runs the trials that are selected and left. It returns an error of kind
//
//   - incomplete: all selected trials have a result, and some are errors;
//   - interrupted: ctx ended; the trial that ran counts as not run;
//   - refused: the plan's max_bytes is reached;
//   - store: the journal or the store cannot be written.
//
// After each of them the campaign can be resumed. The Outcome is valid also
// beside an error.
func (e *Executor) Run(ctx context.Context, c *Campaign) (Outcome, error) {
	r := &run{Executor: e, c: c}
	err := r.fillStore(ctx)
	if err == nil {
		r.session = measure.Session{ID: measure.NewResultID(r.Now()), Number: c.sessions + 1}
		err = c.write(Record{Kind: RecordStarted, At: r.Now().UTC(), Run: &RunRecord{Session: &r.session,
			Only: e.Only, RetryFailed: e.RetryFailed, Version: e.Version, PID: os.Getpid()}})
	}
	if err == nil {
		r.plan()
		err = r.blocks(ctx)
	}
	done, _ := c.Done()
	r.out.Left = c.Record.Trials - done
	if err == nil && r.out.Failed > 0 {
		err = measure.Errorf(measure.KindIncomplete, "%d of %d trials failed", r.out.Failed, r.out.Total).
			WithHint("their results say why: soku ls --campaign %s; measure them again with soku run %s --resume --retry-failed", c.ID(), c.Plan.File)
	}
	reason := "all selected trials have a result"
	if err != nil {
		reason = err.Error()
	}
	// On a full disk this fails as well; what matters has been written by then.
	_ = c.write(Record{Kind: RecordEnded, At: r.Now().UTC(), Reason: reason})
	return r.out, err
}

// run is one run of a campaign.
type run struct {
	*Executor
	c       *Campaign
	session measure.Session
	out     Outcome

	clock clock
}

// fillStore gives the store the results of the journal that it lacks: soku may
// have been killed between writing to the one and to the other, or it is a new
// store.
func (r *run) fillStore(ctx context.Context) error {
	if err := r.Store.PutCampaign(ctx, r.c.Entry()); err != nil {
		return err
	}
	missing, err := r.Store.Missing(ctx, r.c.resultIDs())
	if err != nil || len(missing) == 0 {
		return err
	}
	ids := make(map[string]bool, len(missing))
	for _, id := range missing {
		ids[id] = true
	}
	return r.c.documents(ids, func(res *measure.Result) error { return r.Store.Put(ctx, res) })
}

// pending are the jobs of a block that are to run now.
func (r *run) pending(b Block) []Job {
	if !r.Only.Matches(b.Pattern.Levels) {
		return nil
	}
	var out []Job
	for j := range b.Jobs() {
		if o, done := r.c.outcome(j.Key()); !done || o.failed && r.RetryFailed {
			j.Trial.Session = &r.session
			out = append(out, j)
		}
	}
	return out
}

// plan counts what is selected and left, for the progress that people see.
func (r *run) plan() {
	for b := range r.c.Plan.Blocks(r.c.ID(), r.c.Record.Seed) {
		if !r.Only.Matches(b.Pattern.Levels) {
			continue
		}
		r.out.Total += b.Len
		left := r.pending(b)
		for _, j := range left {
			length, _ := trialTime(j.Test, j.Options)
			r.clock.planned += length
		}
		if len(left) > 0 && len(b.Pattern.Before)+len(b.Pattern.After) > 0 {
			r.clock.blocks++
		}
		for j := range b.Jobs() {
			o, done := r.c.outcome(j.Key())
			if done {
				r.out.Done++
			}
			if o.failed {
				r.out.Failed++
			}
		}
	}
}

func (r *run) blocks(ctx context.Context) error {
	for b := range r.c.Plan.Blocks(r.c.ID(), r.c.Record.Seed) {
		jobs := r.pending(b)
		if len(jobs) == 0 {
			continue
		}
		if err := r.block(ctx, b, jobs); err != nil {
			return err
		}
	}
	return nil
}

// block runs a pattern's trials between its commands. The after commands run
// whatever happened, so that a half-made change is undone: also, with little
// time, after an interrupt.
func (r *run) block(ctx context.Context, b Block, jobs []Job) error {
	begin := r.Now()
	failed, err := r.commands(ctx, "before", b, b.Pattern.Before)
	r.clock.commands += r.Now().Sub(begin)
	if err == nil {
		for _, j := range jobs {
			if failed != nil {
				err = r.keep(ctx, j, j.Spec(agent.Access{}).NotRun(r.Now(), failed), 0)
			} else {
				err = r.trial(ctx, j)
			}
			if err != nil {
				break
			}
		}
	}
	begin = r.Now()
	after := ctx
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		after, cancel = context.WithTimeout(context.WithoutCancel(ctx), afterGrace)
		defer cancel()
	}
	_, afterErr := r.commands(after, "after", b, b.Pattern.After)
	r.clock.commands += r.Now().Sub(begin)
	r.clock.blocksDone++
	if err == nil {
		err = afterErr
	}
	return err
}

// afterGrace is how long the after commands may take once the person has
// stopped the campaign.
const afterGrace = 10 * time.Second
