package campaigns_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"soku/internal/agent"
	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
	"soku/internal/catalog"
	"soku/internal/conduct"
	"soku/internal/hub/campaigns"
	"soku/internal/measure"
	"soku/internal/server"
	"soku/internal/store"
	"soku/internal/store/memory"
	"soku/test/localagents"
)

// fixture is what hubs of one test share: a server, a store, journals.
type fixture struct {
	labelled map[string][]plan.LabelledAgent // agents by label
	port     uint16
	store    store.Store
	journals *journal.Memory
}

func newFixture(t *testing.T) *fixture {
	s, err := server.New(server.Config{Listen: "127.0.0.1:0", MaxClients: 10, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan struct{})
	go func() { defer close(served); _ = s.Serve(ctx) }()
	t.Cleanup(func() { stop(); <-served })
	return &fixture{nil, s.Addr().Port(), memory.New(), new(journal.Memory)}
}

func (f *fixture) plan(more string) []byte {
	return fmt.Appendf(nil, "campaign: c\nfrom: a\nto: server\nendpoints: {a: {agent: vm1}, server: {address: 127.0.0.1, port: %d}}\ntests: {up: {test: tcp, duration: 100ms}}\nrounds: 3\n%s", f.port, more)
}

func (f *fixture) hub(t *testing.T, pass chan struct{}) *campaigns.Campaigns {
	host := conduct.ThisHost()
	host.Agents = localagents.Agents{Here: host.Here, Pass: pass}
	c := campaigns.New(campaigns.Config{
		Conductor: conduct.Conductor{Host: host, Store: f.store, Journals: f.journals},
		ByLabel: func(_, labels string) ([]plan.LabelledAgent, error) {
			if len(f.labelled[labels]) == 0 {
				return nil, measure.Fail(measure.KindNotFound, "hub.agent.no_label", nil)
			}
			return f.labelled[labels], nil
		},
		Limits: func() (*catalog.Catalog, error) { return catalog.Builtin(), nil }, Log: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(c.Close)
	return c
}

// until follows a run to a state.
func until(t *testing.T, r *campaigns.Run, is func(campaigns.State) bool) campaigns.State {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	for known := uint64(0); ; {
		s, version, err := r.Next(ctx, known)
		if err != nil {
			t.Fatalf("%v: %+v", err, r.State())
		}
		if is(s) {
			return s
		}
		known = version
	}
}

func ended(s campaigns.State) bool { return s.EndedAt != nil }

// why is the cause of the end: of a run, or before it began.
func why(s campaigns.State) measure.Error {
	switch {
	case s.Error == nil:
		return measure.Error{}
	case s.Error.Cause != nil:
		return *s.Error.Cause
	}
	return *s.Error
}

func open() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func TestACampaignIsFollowedFromItsStartToItsEnd(t *testing.T) {
	f, pass := newFixture(t), make(chan struct{})
	c := f.hub(t, pass)
	r, err := c.Start(t.Context(), campaigns.Order{File: "plan.yaml", Text: f.plan("")})
	if err != nil {
		t.Fatal(err)
	}
	s := until(t, r, func(s campaigns.State) bool { return len(s.Running) == 1 })
	if s.Campaign == "" || s.Name != "c" || s.Total != 3 || s.Running[0].Label != "up" || s.Running[0].Server != "server" || c.Find(s.Campaign) != r {
		t.Errorf("%+v", s)
	}
	close(pass)
	if s = until(t, r, ended); s.Done != 3 || s.Error != nil || len(s.Running) > 0 {
		t.Errorf("%+v", s)
	}
	if all := c.States(); len(all) != 1 || all[0].Campaign != s.Campaign {
		t.Errorf("%+v", all)
	}
}

func TestAPlanThatRunsCodeIsRefused(t *testing.T) {
	f := newFixture(t)
	c := f.hub(t, open())
	for _, more := range []string{
		"before: touch x\n", "after: touch x\n", "factors: {a: {by: hand, levels: [{name: b, before: touch x}, {name: c, after: touch x}]}}\n",
	} {
		_, err := c.Start(t.Context(), campaigns.Order{File: "plan.yaml", Text: f.plan(more)})
		if e := measure.AsError(err, ""); e == nil || e.Code != "hub.plan.runs_commands" {
			t.Errorf("%s: %v", more, err)
		}
		_, err = c.Start(t.Context(), campaigns.Order{File: "plan.yaml", Text: f.plan("commands_on: a\n" + more)})
		if e := measure.AsError(err, ""); e == nil || e.Code != "hub.agent.no_commands" {
			t.Errorf("on an agent that does not allow it, %s: %v", more, err)
		}
	}
	for _, endpoint := range []string{"command: [ssh, a, soku]", "ssh: a"} {
		_, err := c.Start(t.Context(), campaigns.Order{File: "plan.yaml", Text: fmt.Appendf(nil, "campaign: c\nfrom: a\nto: b\nendpoints: {a: {%s}, b: {address: 127.0.0.1}}\ntests: {up: {test: tcp}}\nrounds: 3\n", endpoint)})
		if e := measure.AsError(err, ""); e == nil || e.Code != "hub.plan.runs_code" {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
	if ids, _ := f.journals.IDs(); len(ids) > 0 {
		t.Error(ids)
	}
	if _, err := c.Start(t.Context(), campaigns.Order{File: "plan.yaml", Text: []byte("campaign: c\nlab: /etc/passwd\n")}); measure.KindOf(err) != measure.KindFile {
		t.Error(err)
	}
}

func TestACampaignOfAHubThatStoppedGoesOnWithTheNext(t *testing.T) {
	f, pass := newFixture(t), make(chan struct{})
	first := f.hub(t, pass)
	r, err := first.Start(t.Context(), campaigns.Order{File: "plan.yaml", Text: f.plan("")})
	if err != nil {
		t.Fatal(err)
	}
	pass <- struct{}{}
	until(t, r, func(s campaigns.State) bool { return s.Done == 1 && len(s.Running) == 1 })
	first.Close()
	s := r.State()
	if s.EndedAt == nil || why(s).Code != "hub.stopping" {
		t.Fatalf("%+v", s)
	}
	// The trial that was interrupted may still have a result at its agent.
	ordered, err := campaigns.Ordered(f.journals, time.Now().Add(-time.Hour))
	if former := slices.Collect(maps.Values(ordered)); len(former) != 1 || !reflect.DeepEqual(former[0], campaigns.Former{Agents: []string{"vm1"}, Campaign: s.Campaign}) || err != nil {
		t.Errorf("%v, %v", ordered, err)
	}
	if ordered, _ := campaigns.Ordered(f.journals, time.Now().Add(time.Hour)); len(ordered) > 0 {
		t.Errorf("of later campaigns: %v", ordered)
	}
	next := f.hub(t, open())
	ids, err := next.TakeOver(t.Context())
	if err != nil || !slices.Equal(ids, []string{s.Campaign}) {
		t.Fatal(ids, err)
	}
	if s := until(t, next.Find(s.Campaign), ended); s.Done != 3 || s.Error != nil {
		t.Errorf("%+v", s)
	}
	if n, err := f.store.Count(t.Context(), store.Query{Campaign: s.Campaign}); n != 3 || err != nil {
		t.Errorf("%d results, %v", n, err)
	}
	if ids, err := next.TakeOver(t.Context()); len(ids) > 0 || err != nil {
		t.Errorf("taken over again: %v %v", ids, err)
	}
}

// severed are journals that take no record any more once cut is closed, as those of a hub that was killed.
type severed struct {
	*journal.Memory
	cut chan struct{}
}

type severedJournal struct {
	journal.Journal
	cut chan struct{}
}

func (j severedJournal) Append(records ...journal.Record) error {
	select {
	case <-j.cut:
		return errors.New("killed")
	default:
		return j.Journal.Append(records...)
	}
}

func (s severed) Create(id string) (journal.Journal, journal.Lock, error) {
	j, l, err := s.Memory.Create(id)
	return severedJournal{j, s.cut}, l, err
}

// full are journals whose disk is full for one record: that of the second result.
type full struct {
	*journal.Memory
	why string // code of the cause
}

type fullJournal struct {
	journal.Journal
	why     string
	results int
}

func (j *fullJournal) Append(records ...journal.Record) error {
	if records[0].Kind == journal.RecordTrialFinished {
		if j.results++; j.results == 2 {
			return measure.Fail(measure.KindStore, "journal.write", measure.Figures{"path": "x", "cause": measure.Fail(measure.KindStore, j.why, nil)})
		}
	}
	return j.Journal.Append(records...)
}

func (f full) Create(id string) (journal.Journal, journal.Lock, error) {
	j, l, err := f.Memory.Create(id)
	return &fullJournal{Journal: j, why: f.why}, l, err
}

func TestACampaignGoesOnWhenTheDiskOfItsJournalWasFull(t *testing.T) {
	for why, goesOn := range map[string]bool{"store.cause.full": true, "store.cause.damaged": false} {
		f := newFixture(t)
		host := conduct.ThisHost()
		host.Agents = localagents.Agents{Here: host.Here, Pass: open()}
		c := campaigns.New(campaigns.Config{
			Conductor: conduct.Conductor{Host: host, Store: f.store, Journals: full{f.journals, why}},
			Limits:    func() (*catalog.Catalog, error) { return catalog.Builtin(), nil }, Log: slog.New(slog.DiscardHandler), Patience: time.Minute,
		})
		defer c.Close()
		r, err := c.Start(t.Context(), campaigns.Order{File: "plan.yaml", Text: f.plan("")})
		if err != nil {
			t.Fatal(err)
		}
		s := until(t, r, ended)
		if s.Done != 1 || s.Error == nil || s.Error.Code != "journal.write" {
			t.Fatalf("%+v", s)
		}
		ids, err := c.TakeOver(t.Context())
		if err != nil || (len(ids) == 1) != goesOn {
			t.Fatalf("%s: %v, %v", why, ids, err)
		}
		if !goesOn {
			continue
		}
		if s = until(t, c.Find(s.Campaign), ended); s.Done != 3 || s.Error != nil {
			t.Errorf("%+v", s)
		}
	}
}

func TestATrialThatWentOnWithoutItsHubIsNotMeasuredAgain(t *testing.T) {
	for name, known := range map[string]bool{"its agent has it": true, "its agent was started again": false} {
		t.Run(name, func(t *testing.T) {
			f, pass := newFixture(t), make(chan struct{})
			journals := severed{f.journals, make(chan struct{})}
			host := conduct.ThisHost()
			host.Agents = localagents.Agents{Here: host.Here, Pass: pass}
			config := campaigns.Config{
				Conductor: conduct.Conductor{Host: host, Store: f.store, Journals: journals},
				Limits:    func() (*catalog.Catalog, error) { return catalog.Builtin(), nil }, Log: slog.New(slog.DiscardHandler), Patience: time.Minute,
			}
			first := campaigns.New(config)
			r, err := first.Start(t.Context(), campaigns.Order{File: "plan.yaml", Text: f.plan("")})
			if err != nil {
				t.Fatal(err)
			}
			pass <- struct{}{}
			s := until(t, r, func(s campaigns.State) bool { return s.Done == 1 && len(s.Running) == 1 })
			left := s.Running[0].Result
			close(journals.cut)
			first.Close()
			ordered, err := campaigns.Ordered(f.journals, time.Now().Add(-time.Hour))
			if err != nil || !reflect.DeepEqual(ordered[left], campaigns.Former{Agents: []string{"vm1"}, Campaign: s.Campaign, Left: true}) {
				t.Errorf("%+v, %v", ordered, err)
			}
			config.Conductor.Journals = f.journals
			config.Conductor.Host.Agents = localagents.Agents{Here: host.Here, Pass: open(), Former: func(s agent.Spec) *measure.Result {
				if !known || s.Result != left {
					return nil
				}
				return host.Here.Run(t.Context(), s, agent.Hooks{})
			}}
			next := campaigns.New(config)
			defer next.Close()
			if !next.Claims(ordered[left]) {
				t.Error("its document is not left at the agent")
			}
			if _, err := next.TakeOver(t.Context()); err != nil {
				t.Fatal(err)
			}
			if s := until(t, next.Find(s.Campaign), ended); s.Done != 3 || s.Error != nil {
				t.Errorf("%+v", s)
			}
			missing, err := f.store.Missing(t.Context(), []string{left})
			if n, countErr := f.store.Count(t.Context(), store.Query{}); n != 3 || countErr != nil || err != nil || (len(missing) == 0) != known {
				t.Errorf("%d results, %q missing, %v, %v", n, missing, countErr, err)
			}
			if _, err := next.TakeOver(t.Context()); err != nil || next.Claims(ordered[left]) {
				t.Errorf("its campaign has ended, %v", err)
			}
		})
	}
}

func TestACampaignThatAPersonStoppedIsNotTakenOver(t *testing.T) {
	f := newFixture(t)
	c := f.hub(t, make(chan struct{}))
	r, err := c.Start(t.Context(), campaigns.Order{File: "plan.yaml", Text: f.plan("")})
	if err != nil {
		t.Fatal(err)
	}
	id := r.State().Campaign
	if err := c.Stop(id, "ann"); err != nil {
		t.Fatal(err)
	}
	if s := until(t, r, ended); why(s).Code != "hub.stopped" || why(s).Figures["person"] != "ann" {
		t.Errorf("%+v", s.Error)
	}
	if ids, err := f.hub(t, open()).TakeOver(t.Context()); len(ids) > 0 || err != nil {
		t.Error(ids, err)
	}
	if err := c.Stop(id, "ann"); measure.KindOf(err) != measure.KindNotFound {
		t.Error(err)
	}
}

func TestAStartThatIsNotAwaitedLeavesNothing(t *testing.T) {
	f := newFixture(t)
	c := f.hub(t, open())
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if r, err := c.Start(ctx, campaigns.Order{File: "plan.yaml", Text: f.plan("")}); err == nil { // it may have begun before
		until(t, r, ended)
	}
}

func TestAServerThatDoesNotAnswerIsToldBeforeTheCampaignBegins(t *testing.T) {
	f := newFixture(t)
	f.port = 1
	_, err := f.hub(t, open()).Start(t.Context(), campaigns.Order{File: "plan.yaml", Text: f.plan("")})
	if measure.KindOf(err) != measure.KindUnreachable {
		t.Error(err)
	}
}

func TestAHubRunsNoTrialsItself(t *testing.T) {
	f := newFixture(t)
	c := f.hub(t, open())
	for _, from := range []string{"", "from: here\n"} {
		text := fmt.Appendf(nil, "campaign: c\n%sto: server\nendpoints: {here: {address: 127.0.0.1}, server: {address: 127.0.0.1, port: %d}}\n"+
			"tests: {keys: {test: copy, folder: /etc}}\nrounds: 3\n", from, f.port)
		_, err := c.Start(t.Context(), campaigns.Order{File: "plan.yaml", Text: text})
		if e := measure.AsError(err, ""); e == nil || e.Code != "hub.plan.no_agent" {
			t.Errorf("%q: %v", from, err)
		}
	}
}

func TestACampaignThatWasStoppedGoesOnWhenAPersonAsks(t *testing.T) {
	f, pass := newFixture(t), make(chan struct{})
	c := f.hub(t, pass)
	order := campaigns.Order{File: "plan.yaml", Text: f.plan("")}
	r, err := c.Start(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	pass <- struct{}{}
	until(t, r, func(s campaigns.State) bool { return s.Done == 1 })
	if err := c.Stop(r.State().Campaign, "ann"); err != nil {
		t.Fatal(err)
	}
	until(t, r, ended)
	close(pass)
	order.Resume = true
	again, err := c.Start(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	if s := until(t, again, ended); s.Campaign != r.State().Campaign || s.Done != 3 || s.Error != nil {
		t.Errorf("%+v", s)
	}
}

func TestPatternsThatWereNotAskedForAreNotRunAfterATakeover(t *testing.T) {
	f, pass := newFixture(t), make(chan struct{})
	first := f.hub(t, pass)
	text := f.plan("factors: {streams: {option: streams, levels: [1, 2]}}\n")
	r, err := first.Start(t.Context(), campaigns.Order{File: "plan.yaml", Text: text, Only: []string{"streams=2"}})
	if err != nil {
		t.Fatal(err)
	}
	pass <- struct{}{}
	until(t, r, func(s campaigns.State) bool { return s.Done == 1 && len(s.Running) == 1 })
	first.Close()
	next := f.hub(t, open())
	if _, err := next.TakeOver(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, next.Find(r.State().Campaign), ended)
	for result, err := range f.store.Results(t.Context(), store.Query{}, store.Whole) {
		if err != nil || result.Trial.Pattern != "2" {
			t.Errorf("%s, %v", result.Trial.Pattern, err)
		}
	}
}

// Each change is confirmed by a person, once, and the journal has who it was. A hub that goes on with the campaign asks again.
func TestAChangeByHandIsConfirmedByAPerson(t *testing.T) {
	f := newFixture(t)
	c := f.hub(t, open())
	text := f.plan("factors: {cable: {by: hand, levels: [red, blue]}}\n")
	r, err := c.Start(t.Context(), campaigns.Order{File: "plan.yaml", Text: text})
	if err != nil {
		t.Fatal(err)
	}
	asks := func(s campaigns.State) bool { return s.Asks != nil }
	first := until(t, r, asks)
	id := first.Campaign
	if q := first.Asks; q.Number != 1 || len(q.Levels) != 1 || q.Levels[0].Factor != "cable" || first.Done > 0 {
		t.Errorf("%+v", q)
	}
	if err := c.Confirm(id, first.Asks.ID+1, "eve"); measure.KindOf(err) != measure.KindRefused {
		t.Error(err)
	}
	if err := c.Confirm(id, first.Asks.ID, "ann"); err != nil {
		t.Fatal(err)
	}
	if err := c.Confirm(id, first.Asks.ID, "eve"); measure.KindOf(err) != measure.KindRefused {
		t.Error(err)
	}
	second := until(t, r, func(s campaigns.State) bool { return asks(s) && s.Asks.ID != first.Asks.ID })
	if second.Done != 1 || second.Asks.Number != 2 {
		t.Errorf("%+v", second)
	}
	c.Close()
	next := f.hub(t, open())
	if _, err := next.TakeOver(t.Context()); err != nil {
		t.Fatal(err)
	}
	r = next.Find(id)
	for last := second.Asks.ID; ; {
		s := until(t, r, func(s campaigns.State) bool { return ended(s) || asks(s) && s.Asks.ID != last })
		if ended(s) {
			if s.Done != 6 || s.Error != nil || s.Asks != nil {
				t.Errorf("%+v", s)
			}
			break
		}
		last = s.Asks.ID
		if err := next.Confirm(id, last, "bob"); err != nil {
			t.Fatal(err)
		}
	}
	var people []string
	err = f.journals.Read(id, func(r journal.Record) error {
		if r.Change != nil {
			people = append(people, r.Change.How+" "+r.Change.User)
		}
		return nil
	})
	if err != nil || len(people) < 3 || people[0] != "hub ann" || people[1] != "hub bob" || slices.Contains(people, "hub eve") {
		t.Errorf("%q, %v", people, err)
	}
	if err := next.Confirm(id, 1, "bob"); measure.KindOf(err) != measure.KindNotFound {
		t.Error(err)
	}
}
