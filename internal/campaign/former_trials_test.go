package campaign_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"soku/internal/agent"
	"soku/internal/campaign"
	"soku/internal/campaign/journal"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
	"soku/internal/store/memory"
	"soku/test/plans"
)

const meshOfAgents = `campaign: mesh
endpoints: {a: {agent: a}, b: {agent: b}, c: {agent: c}, d: {agent: d}}
pairs: {mesh: ['*']}
tests: {up: {test: tcp, duration: 1s}}
rounds: 1
`

const groupOfAgents = `campaign: group
endpoints: {a: {agent: a}, b: {agent: b}}
pairs: {mesh: ['*']}
contention: together
tests: {up: {test: tcp, duration: 1s}}
rounds: 1
`

// left is a campaign whose run was killed while the trials of some places of the first block ran, and the identities of their results.
func left(t *testing.T, in journal.Backend, text string, places ...int) (*campaign.Campaign, []string) {
	t.Helper()
	p := plans.Parse(t, text)
	c, err := campaign.Create(in, p, 42, "test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	var records []journal.Record
	for b := range c.Blocks() {
		for _, place := range places {
			j := b.Job(place)
			key, id := j.Key(), measure.NewResultID(time.Now())
			ids = append(ids, id)
			records = append(records, journal.Record{Kind: journal.RecordTrialStarted, At: time.Now(), Trial: &key, Order: j.Trial.Order, ResultID: id})
		}
		break
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	j, lock, err := in.Open(c.ID(), func(journal.Record) error { return nil })
	if err == nil {
		err = j.Append(records...)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, _ = j.Close(), lock.Release()
	if c, err = campaign.Resume(in, c.ID(), p); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, ids
}

func TestTrialsThatAFormerRunBeganAreTakenOverBeforeOthersBegin(t *testing.T) {
	in, results := new(journal.Memory), memory.New()
	c, ids := left(t, in, meshOfAgents, 3, 7)
	var mu sync.Mutex
	former, others := 0, 0
	runner := runnerFunc(func(_ context.Context, j schedule.Job, _ campaign.Hooks) *measure.Result {
		mu.Lock()
		defer mu.Unlock()
		switch known := slices.Contains(ids, j.Result); {
		case known != j.Former:
			t.Errorf("%s: former is %t", j.Result, j.Former)
		case known && others > 0:
			t.Error("another trial began before")
		case known:
			former++
		default:
			others++
		}
		return &measure.Result{Schema: measure.Schema, Test: j.Test, Trial: &j.Trial, StartedAt: time.Now().UTC(), Options: j.Options}
	})
	e := &campaign.Executor{Runner: runner, Store: results, Now: time.Now, Limit: 2, Patience: time.Minute}
	out, err := e.Run(t.Context(), c)
	if err != nil || out.Done != 12 || former != 2 || others != 10 {
		t.Errorf("%+v, %v; %d former, %d others", out, err, former, others)
	}
	if missing, err := results.Missing(t.Context(), ids); err != nil || len(missing) > 0 {
		t.Errorf("missing %q, %v", missing, err)
	}
}

func TestAFormerTrialThatIsLostIsMeasuredAgain(t *testing.T) {
	in, results := new(journal.Memory), memory.New()
	c, ids := left(t, in, meshOfAgents, 5)
	ran := 0
	runner := runnerFunc(func(_ context.Context, j schedule.Job, _ campaign.Hooks) *measure.Result {
		r := &measure.Result{Schema: measure.Schema, Test: j.Test, Trial: &j.Trial, StartedAt: time.Now().UTC(), Options: j.Options}
		if ran++; j.Former {
			r.Error = agent.Spec{Client: j.Client.Endpoint}.Away("dropped")
		}
		return r
	})
	e := &campaign.Executor{Runner: runner, Store: results, Now: time.Now, Patience: time.Minute}
	if out, err := e.Run(t.Context(), c); err != nil || out.Done != 12 || ran != 13 {
		t.Errorf("%+v, %v, ran %d", out, err, ran)
	}
	if missing, _ := results.Missing(t.Context(), ids); len(missing) != 1 {
		t.Error("the lost result is in the store")
	}
}

func TestAGroupThatAFormerRunBeganIsStoppedAndMeasuredAgain(t *testing.T) {
	in, results := new(journal.Memory), memory.New()
	c, ids := left(t, in, groupOfAgents, 0, 1)
	var mu sync.Mutex
	var stopped []string
	runner := runnerFunc(func(ctx context.Context, j schedule.Job, h campaign.Hooks) *measure.Result {
		r := &measure.Result{Schema: measure.Schema, Test: j.Test, Trial: &j.Trial, StartedAt: time.Now().UTC(), Options: j.Options}
		mu.Lock()
		if j.Former {
			if ctx.Err() == nil {
				t.Error("a former trial goes on")
			}
			stopped = append(stopped, j.Result)
		} else if len(stopped) != 2 {
			t.Errorf("it begins while %d of 2 are stopped", len(stopped))
		}
		mu.Unlock()
		if !j.Former && h.Ready != nil {
			_, err := h.Ready(ctx, 0)
			r.Error = measure.AsError(err, measure.KindBroken)
		}
		return r
	})
	e := &campaign.Executor{Runner: runner, Store: results, Now: time.Now, Patience: time.Minute}
	if out, err := e.Run(t.Context(), c); err != nil || out.Done != 2 || len(stopped) != 2 {
		t.Errorf("%+v, %v, stopped %q", out, err, stopped)
	}
	if missing, _ := results.Missing(t.Context(), ids); len(missing) != 2 {
		t.Error("a former result of a group is in the store")
	}
}
