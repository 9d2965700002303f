package campaigns_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"soku/internal/agent"
	"soku/internal/campaign/journal"
	"soku/internal/campaign/journal/sqljournal"
	"soku/internal/campaign/plan"
	"soku/internal/catalog"
	"soku/internal/conduct"
	"soku/internal/hub/campaigns"
	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/sqlite"
	"soku/internal/store/sqlstore"
	"soku/test/localagents"
)

// unreliable agents lose the first trial of a campaign and fail the third.
type unreliable struct {
	localagents.Agents
	trials *atomic.Int64
}

func (u unreliable) Place(string, string, time.Duration, bool) agent.Place { return u }

func (u unreliable) Run(ctx context.Context, s agent.Spec, h agent.Hooks) *measure.Result {
	if s.Trial.Campaign != "" {
		switch u.trials.Add(1) {
		case 1:
			return s.NotRun(time.Now(), s.Away("away"))
		case 3:
			return s.NotRun(time.Now(), u.MayCommand("vm2"))
		}
	}
	return u.Agents.Run(ctx, s, h)
}

// readings counts how often a journal is read without being held.
type readings struct {
	journal.Backend
	n *atomic.Int64
}

func (r readings) Read(id string, visit func(journal.Record) error) error {
	r.n.Add(1)
	return r.Backend.Read(id, visit)
}

// database is a hub whose store and journals are in a file, as those of soku-hub.
func (f *fixture) database(t *testing.T, agents conduct.Agents) (c *campaigns.Campaigns, read *atomic.Int64) {
	t.Helper()
	db, _ := sqlstore.Of(f.store)
	journals, err := sqljournal.Open(context.WithoutCancel(t.Context()), db, t.Name())
	if err != nil {
		t.Fatal(err)
	}
	host := conduct.ThisHost()
	host.Agents, read = agents, new(atomic.Int64)
	c = campaigns.New(campaigns.Config{
		Conductor: conduct.Conductor{Host: host, Store: f.store, Journals: readings{journals, read}}, Patience: time.Minute,
		ByLabel: func(_, labels string) ([]plan.LabelledAgent, error) { return f.labelled[labels], nil },
		Limits:  func() (*catalog.Catalog, error) { return catalog.Builtin(), nil }, Log: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(c.Close)
	return c, read
}

func newDatabase(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t)
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "soku.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	f.store = s
	f.labelled = map[string][]plan.LabelledAgent{"zone=west": {{Name: "vm1", ID: "UAAA"}, {Name: "vm2", ID: "UBBB"}}}
	return f
}

// untimed is a state without its times, as JSON has it.
func untimed(t *testing.T, s campaigns.State) string {
	t.Helper()
	s.BeganAt, s.EndedAt, s.Events = time.Time{}, nil, slices.Clone(s.Events)
	for i := range s.Events {
		s.Events[i].At = time.Time{}
	}
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAHubThatStartsAgainKnowsWhatEndedBefore(t *testing.T) {
	f := newDatabase(t)
	ends := map[string]func(c *campaigns.Campaigns, pass chan struct{}, id string){
		"with a failure": func(_ *campaigns.Campaigns, pass chan struct{}, _ string) { close(pass) },
		"stopped": func(c *campaigns.Campaigns, _ chan struct{}, id string) {
			if err := c.Stop(id, "ann"); err != nil {
				t.Error(err)
			}
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			pass := make(chan struct{})
			host := conduct.ThisHost()
			first, _ := f.database(t, unreliable{localagents.Agents{Here: host.Here, Pass: pass}, new(atomic.Int64)})
			begun := time.Now()
			r, err := first.Start(t.Context(), campaigns.Order{File: "plan.yaml", Text: f.byLabel()})
			if err != nil {
				t.Fatal(err)
			}
			s := until(t, r, func(s campaigns.State) bool { return len(s.Events) > 0 && len(s.Running) > 0 }) // lost, and repeated
			end(first, pass, s.Campaign)
			before := until(t, r, ended)
			first.Close()
			next, read := f.database(t, localagents.Agents{})
			if ids, err := next.TakeOver(t.Context()); len(ids) > 0 || err != nil {
				t.Fatal(ids, err)
			}
			read.Store(0)
			for range 2 {
				after, err := next.At(t.Context(), s.Campaign)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := untimed(t, after), untimed(t, before); got != want {
					t.Errorf("after: %s\nbefore: %s", got, want)
				}
				if after.EndedAt == nil || before.EndedAt.Sub(*after.EndedAt) > time.Second || after.BeganAt.Before(begun.Add(-time.Second)) {
					t.Errorf("began %s, ended %s, want %s", after.BeganAt, after.EndedAt, before.EndedAt)
				}
				for i, e := range after.Events {
					if d := before.Events[i].At.Sub(e.At); d > time.Second || d < -time.Second {
						t.Errorf("%+v, before: %+v", e, before.Events[i])
					}
				}
			}
			if n := read.Load(); n != 1 {
				t.Errorf("the journal was read %d times", n)
			}
			if list, err := next.List(t.Context(), "", 10); err != nil || list[0].Campaign != s.Campaign || list[0].EndedAt == nil || list[0].Live {
				t.Errorf("%+v, %v", list, err)
			}
		})
	}
}

func TestACampaignThatCannotGoOnSaysWhy(t *testing.T) {
	f, pass := newDatabase(t), make(chan struct{})
	first, _ := f.database(t, localagents.Agents{Here: conduct.ThisHost().Here, Pass: pass})
	r, err := first.Start(t.Context(), campaigns.Order{File: "plan.yaml", Text: f.byLabel()})
	if err != nil {
		t.Fatal(err)
	}
	id := until(t, r, func(s campaigns.State) bool { return len(s.Running) == 1 }).Campaign
	first.Close()
	next, _ := f.database(t, nil)
	if s, err := next.At(t.Context(), id); err != nil || s.Live || s.EndedAt != nil || s.Error != nil {
		t.Errorf("not gone on with yet: %+v, %v", s, err)
	}
	if _, err := next.TakeOver(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s, err := next.At(t.Context(), id); err != nil || s.Live || s.EndedAt != nil || s.Error == nil || s.Agents["zone=west"] == nil {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestTheListOfCampaignsHasPages(t *testing.T) {
	f := newDatabase(t)
	c, read := f.database(t, localagents.Agents{Here: conduct.ThisHost().Here, Pass: make(chan struct{})})
	r, err := c.Start(t.Context(), campaigns.Order{File: "plan.yaml", Text: f.byLabel()}) // runs, and is older than all others
	if err != nil {
		t.Fatal(err)
	}
	until(t, r, func(s campaigns.State) bool { return len(s.Running) == 1 })
	var want []string
	for i := range 25 {
		id := fmt.Sprintf("20990101-0000%02d-c-000000", i)
		if err := f.store.PutCampaign(t.Context(), store.Campaign{ID: id, Name: "c", StartedAt: time.Now().Add(time.Duration(i) * time.Second), Trials: 3, Done: i % 4}); err != nil {
			t.Fatal(err)
		}
		want = append([]string{id}, want...)
	}
	read.Store(0)
	var got []string
	pages := 0
	for after, page := "", make([]campaigns.State, 1); len(page) > 0; pages++ {
		if page, err = c.List(t.Context(), after, 10); err != nil {
			t.Fatal(err)
		}
		for _, s := range page {
			got, after = append(got, s.Campaign), s.Campaign
		}
	}
	if !slices.Equal(got, append([]string{r.State().Campaign}, want...)) || pages != 4 || read.Load() > 0 {
		t.Errorf("%d pages, %d readings: %q", pages, read.Load(), got)
	}
	if _, err := c.List(t.Context(), "none", 10); measure.KindOf(err) != measure.KindNotFound {
		t.Error(err)
	}
}
