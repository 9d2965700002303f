package campaign_test

import (
	"context"
	"soku/test/plans"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"soku/internal/campaign"
	"soku/internal/campaign/journal"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/store/memory"
)

// losing returns a runner whose place loses the trial of order 3 until it is back.
func losing(back *atomic.Bool, lost *[]string) runnerFunc {
	return func(_ context.Context, j schedule.Job, _ campaign.Hooks) *measure.Result {
		r := &measure.Result{Schema: measure.Schema, Test: j.Test, Trial: &j.Trial, StartedAt: time.Now().UTC(), Options: j.Options}
		if j.Trial.Round == 1 && j.Trial.Order == 3 && !back.Load() {
			*lost = append(*lost, j.Result)
			r.Error = measure.Fail(measure.KindBroken, "agent.process.lost", measure.Figures{"host": "", "why": "signal: killed"})
		}
		return r
	}
}

func TestALostTrialRunsAgainAndNamesTheLostOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var back atomic.Bool
		var lost []string
		in, results := new(journal.Memory), memory.New()
		c, err := campaign.Create(in, plans.Parse(t, plans.Study), 42, "test", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		time.AfterFunc(5500*time.Millisecond, func() { back.Store(true) })
		e := &campaign.Executor{Runner: losing(&back, &lost), Store: results, Now: time.Now, Patience: time.Minute}
		if out, err := e.Run(t.Context(), c); err != nil || out != (campaign.Outcome{Total: 16, Done: 16, Ran: 16}) {
			t.Fatalf("outcome %+v, error %v", out, err)
		}
		repeated, named := 0, 0
		for _, r := range recordsOf(t, in, c.ID()) {
			switch {
			case r.Kind == journal.RecordTrialDropped && r.Code == "campaign.host_gone" && r.ResultID == lost[repeated]:
				repeated++
			case r.Kind == journal.RecordTrialStarted && r.Repeats != "":
				if named++; r.Repeats != lost[repeated-1] || r.ResultID == r.Repeats {
					t.Errorf("%s repeats %s, lost were %q", r.ResultID, r.Repeats, lost)
				}
			case r.Kind == journal.RecordTrialFinished && r.Order == 3 && r.Trial.Round == 1:
				if f := r.Result; f.Error != nil {
					t.Error(f.Error)
				} else if doc, err := f.Result(); err != nil || len(doc.Findings.With(finding.RepeatsLost)) != 1 {
					t.Errorf("findings %+v, error %v", doc.Findings, err)
				}
			}
		}
		if len(lost) != 6 || repeated != 6 || named != 6 {
			t.Errorf("lost %q, %d dropped, %d repeated", lost, repeated, named)
		}
	})
}

func TestALostTrialWhoseHostStaysAwayIsNotRunAndResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var back atomic.Bool
		var lost []string
		in, results, p := new(journal.Memory), memory.New(), plans.Parse(t, plans.Study)
		c, err := campaign.Create(in, p, 42, "test", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		e := &campaign.Executor{Runner: losing(&back, &lost), Store: results, Now: time.Now, Patience: 10 * time.Second}
		out, err := e.Run(t.Context(), c)
		if measure.KindOf(err) != measure.KindIncomplete || out != (campaign.Outcome{Total: 16, Done: 15, Ran: 15, Skipped: 1, Left: 1}) {
			t.Errorf("outcome %+v, error %v", out, err)
		}
		_ = c.Close()
		back.Store(true)
		if c, err = campaign.Resume(in, c.ID(), p); err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if out, err := e.Run(t.Context(), c); err != nil || out != (campaign.Outcome{Total: 16, Done: 16, Ran: 1}) {
			t.Errorf("after resuming: outcome %+v, error %v", out, err)
		}
	})
}
