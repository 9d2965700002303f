package campaign

import (
	"context"
	"os"
	"time"

	"soku/internal/campaign/journal"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
)

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
		rows: map[schedule.EndpointPair]failureRow{}, aborted: map[schedule.EndpointPair]bool{}}
	_, err := c.Refill(ctx, r.Store, r.conflict)
	if err == nil {
		r.session, r.workedBefore, r.began = c.nextSession(r.Now()), c.Worked(), r.Now()
		err = c.write(journal.Record{Kind: journal.RecordStarted, At: r.Now().UTC(), Run: &journal.RunRecord{Session: &r.session,
			Only: e.Only, RetryFailed: e.RetryFailed, Version: e.Version, PID: os.Getpid()}})
	}
	if err == nil {
		err = r.leaveBlocked()
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
	ended := journal.Record{Kind: journal.RecordEnded, At: r.Now().UTC(), Reason: "all selected trials have a result"}
	if err != nil {
		why := measure.AsError(err, measure.KindInternal)
		if why.Kind == measure.KindInterrupted && why.Cause != nil && why.Cause.Code != "" {
			why = why.Cause // who interrupted it decides who goes on with it
		}
		ended.Reason, ended.Code, ended.Error = err.Error(), why.Code, measure.AsError(err, measure.KindInternal)
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
			// The results of a search in the round before decide how many trials there are.
			if r.counted != r.c.Rounds() || begins && r.searches() {
				r.count()
			}
			missed, err := r.awaitRound(ctx, b)
			if err != nil {
				return err
			}
			if missed {
				break
			}
			last = b.Round
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

// due are the first trials of the units of a block that are to run now. each
// gets what every trial of the block has left; it may be nil. All trials of a
// group run again if one of them does.
func (r *run) due(b schedule.Block, each func(o outcome, done bool)) []int {
	if !r.Only.Matches(b.Pattern.Levels) {
		return nil
	}
	var out []int
	for i := 0; i < b.Len; {
		u, due := b.Unit(i), false
		for ; i < u.First+u.Count; i++ {
			o, done := r.c.outcome(b.Job(i).Key())
			due = due || r.isToRun(o, done)
			if each != nil {
				each(o, done)
			}
		}
		if due {
			out = append(out, u.First)
		}
	}
	return out
}

// isDue reports whether a trial is to run now.
func (r *run) isDue(j schedule.Job) bool { return r.isToRun(r.c.outcome(j.Key())) }

func (r *run) isToRun(o outcome, done bool) bool { return !done || o.failed && r.RetryFailed }

func plannedTime(b schedule.Block, u schedule.Unit) time.Duration {
	var sum time.Duration
	for i := range u.Count {
		j := b.Job(u.First + i)
		length, _ := schedule.TrialTime(j.Test, j.Options)
		sum += length
	}
	return sum
}

// extend adds the rounds that the plan's until asks for, once all that the campaign has are
// over. It returns false if there are none. While trials are left that could not run, none
// are added.
func (r *run) extend() (bool, error) {
	perRound := r.workedBefore / time.Duration(r.c.Rounds())
	if r.roundsRun > 0 {
		perRound = r.Now().Sub(r.began) / time.Duration(r.roundsRun)
	}
	r.out.Enough = r.c.Enough(r.Only, r.elapsed(), perRound)
	if r.out.Skipped > 0 || !r.out.Enough.goesOn() {
		return false, nil
	}
	more, most := 1, r.c.Plan.Budget.Time
	if first := r.c.Plan.Until.FirstAnalysis() - r.c.Rounds(); first > 1 && (most == 0 || r.elapsed()+time.Duration(first)*perRound <= most.Std()) {
		more = first // nothing is decided before
	}
	return true, r.c.AddRounds(more, r.Now())
}
