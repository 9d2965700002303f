package campaign_test

import (
	"context"
	"encoding/json"
	"slices"
	"soku/test/plans"
	"strings"
	"testing"
	"time"

	"soku/internal/agent"
	"soku/internal/campaign"
	"soku/internal/campaign/journal"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
	"soku/internal/store/memory"
)

type runnerFunc func(context.Context, schedule.Job, campaign.Hooks) *measure.Result

func (f runnerFunc) Run(ctx context.Context, j schedule.Job, h campaign.Hooks) *measure.Result {
	return f(ctx, j, h)
}

// jobRunner keeps the jobs that it is given and invents results with identities of its own.
type jobRunner struct{ jobs []schedule.Job }

func (r *jobRunner) Run(_ context.Context, j schedule.Job, _ campaign.Hooks) *measure.Result {
	r.jobs = append(r.jobs, j)
	return &measure.Result{Schema: measure.Schema, ID: "of the runner", Test: j.Test, Trial: &j.Trial, StartedAt: time.Now().UTC(), Options: j.Options}
}

// recordsOf returns the records of a journal.
func recordsOf(t *testing.T, in journal.Backend, id string) (out []journal.Record) {
	t.Helper()
	if err := in.Read(id, func(r journal.Record) error { out = append(out, r); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTheIdentityOfAResultIsMadeBeforeItsTrial(t *testing.T) {
	runner, in, results := &jobRunner{}, new(journal.Memory), memory.New()
	c, err := campaign.Create(in, plans.Parse(t, plans.Study), 42, "test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	e := &campaign.Executor{Runner: runner, Store: results, Now: time.Now}
	if _, err := e.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	var started, finished []string
	for _, r := range recordsOf(t, in, c.ID()) {
		switch r.Kind {
		case journal.RecordTrialStarted:
			started = append(started, r.ResultID)
		case journal.RecordTrialFinished:
			finished = append(finished, r.Result.ID)
		}
	}
	var ran []string
	for _, j := range runner.jobs {
		ran = append(ran, j.Result)
		if r, err := results.Get(t.Context(), j.Result); err != nil || r.Trial.Order != j.Trial.Order {
			t.Errorf("result %q: %v", j.Result, err)
		}
	}
	unique := slices.Compact(slices.Sorted(slices.Values(ran)))
	if len(unique) != 16 || unique[0] == "" || !slices.Equal(started, ran) || !slices.Equal(finished, ran) {
		t.Errorf("started %q, ran %q, finished %q", started, ran, finished)
	}
}

func TestAnotherResultOfTheSameIdentityIsKeptAndReported(t *testing.T) {
	in, results := new(journal.Memory), memory.New()
	c, err := campaign.Create(in, plans.Parse(t, plans.Study), 42, "test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var taken string
	runner := runnerFunc(func(_ context.Context, j schedule.Job, _ campaign.Hooks) *measure.Result {
		r := &measure.Result{Schema: measure.Schema, Test: j.Test, Trial: &j.Trial, StartedAt: time.Now().UTC(), Options: j.Options}
		if taken == "" { // another program writes a result with this identity meanwhile
			taken = j.Result
			other := *r
			other.ID, other.Test = taken, measure.TestUDP
			if err := results.Put(t.Context(), &other); err != nil {
				t.Error(err)
			}
		}
		return r
	})
	var reported []string
	e := &campaign.Executor{Runner: runner, Store: results, Now: time.Now, Watch: func(e campaign.Event) {
		if e.Kind == campaign.EventConflict {
			reported = append(reported, e.Error.Message)
		}
	}}
	if out, err := e.Run(t.Context(), c); err != nil || out.Done != 16 {
		t.Fatalf("outcome %+v, error %v", out, err)
	}
	if len(reported) != 1 || !strings.Contains(reported[0], taken) {
		t.Errorf("reported %q, the identity is %s", reported, taken)
	}
	var kept, conflicts int
	for _, r := range recordsOf(t, in, c.ID()) {
		if r.Kind == journal.RecordTrialFinished && r.Result.ID == taken {
			kept++
		}
		if r.Kind == journal.RecordConflict && r.ResultID == taken && r.Code == "store.conflict" {
			conflicts++
		}
	}
	if kept != 1 || conflicts != 1 {
		t.Errorf("the journal has %d results and %d conflicts of %s", kept, conflicts, taken)
	}
	if r, err := results.Get(t.Context(), taken); err != nil || r.Test != measure.TestUDP {
		t.Errorf("the stored result is replaced: %v", err)
	}
}

// A journal with two results of one identity, as two merged folders may leave.
func TestAConflictWithinAJournalIsReportedOnResume(t *testing.T) {
	in := new(journal.Memory)
	p := plans.Parse(t, plans.Study)
	c, err := campaign.Create(in, p, 42, "test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	e := &campaign.Executor{Runner: &jobRunner{}, Store: memory.New(), Now: time.Now}
	if _, err := e.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	var ids []string
	for _, r := range recordsOf(t, in, c.ID()) {
		if r.Kind == journal.RecordTrialFinished {
			ids = append(ids, r.Result.ID)
		}
	}
	text := strings.ReplaceAll(string(in.Bytes(c.ID())), ids[1], ids[0])
	other := new(journal.Memory)
	if _, err := other.Adopt(c.ID(), strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	c, err = campaign.Resume(other, c.ID(), p)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var reported []*measure.Error
	if added, err := c.Refill(t.Context(), memory.New(), func(e *measure.Error) { reported = append(reported, e) }); err != nil || added != 15 || len(reported) != 1 {
		t.Errorf("added %d, reported %v, error %v", added, reported, err)
	}
}

// identityPlace is a place that keeps what an agent would get.
type identityPlace struct{ spec agent.Spec }

func (p *identityPlace) Run(_ context.Context, s agent.Spec, _ agent.Hooks) *measure.Result {
	p.spec = s
	return nil
}

func TestAJobHandsItsIdentityToTheAgent(t *testing.T) {
	var place identityPlace
	campaign.Places{Of: func(schedule.Job) agent.Place { return &place }}.Run(t.Context(), schedule.Job{Result: "0123456789ab01234567"}, campaign.Hooks{})
	text, err := json.Marshal(place.spec)
	if err != nil || !strings.Contains(string(text), `"result_id":"0123456789ab01234567"`) {
		t.Errorf("%s %v", text, err)
	}
}
