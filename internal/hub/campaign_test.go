package hub_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"soku/internal/agent"
	"soku/internal/campaign"
	"soku/internal/campaign/journal"
	"soku/internal/catalog"
	"soku/internal/conduct"
	"soku/internal/fleet"
	"soku/internal/fleet/endpoint"
	"soku/internal/hub"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/store"
	"soku/internal/store/memory"
)

var _ conduct.Agents = hub.Campaigns{}

// campaigner runs campaigns on a hub.
type campaigner struct {
	*hub.Hub
	results store.Store
	folder  string
}

func newCampaigner(t *testing.T, b *broker) *campaigner {
	c := &campaigner{results: memory.New(), folder: t.TempDir()}
	c.Hub = b.hub(func(cfg *hub.Config) { cfg.Store = c.results })
	return c
}

func (c *campaigner) run(t *testing.T, text string) (campaign.Outcome, error) {
	t.Helper()
	file := filepath.Join(c.folder, "plan.yaml")
	read := func(string) ([]byte, error) { return []byte(text), nil }
	plan, _, err := conduct.Load(file, read, func() (*catalog.Catalog, error) { return catalog.Builtin(), nil })
	if err != nil {
		t.Fatal(err)
	}
	host := conduct.ThisHost()
	host.Agents = c.Campaigns()
	conductor := conduct.Conductor{Host: host, Store: c.Store(), Journals: new(journal.Memory)}
	return conductor.Run(t.Context(), conduct.Order{Plan: plan, Patience: 10 * time.Second})
}

// member is an agent for campaigns: its trials end immediately and its servers are remembered.
type member struct {
	*host
	mu      sync.Mutex
	servers map[string]string // token by name
	tokens  []string
	specs   []agent.Spec
}

func newMember(b *broker, n int, name string) *member {
	m := &member{servers: map[string]string{}}
	m.host = b.host(n, func(h *host) {
		h.name = name
		h.serve = func(s fleet.Serve) fleet.Served {
			m.mu.Lock()
			defer m.mu.Unlock()
			if s.Server == nil {
				delete(m.servers, s.Name)
				return fleet.Served{}
			}
			m.servers[s.Name] = s.Server.Token
			m.tokens = append(m.tokens, s.Server.Token)
			return fleet.Served{Listening: endpoint.Listening{Port: 7000 + n}}
		}
		h.trial = func(r *running) {
			m.mu.Lock()
			m.specs = append(m.specs, r.spec)
			m.mu.Unlock()
			if r.spec.AwaitStart {
				measures(r)
				return
			}
			for range 10 { // as an agent does with what is not kept
				if got := h.deliver(r.result()); got.Kept {
					return
				}
			}
			h.t.Errorf("%s was not kept", r.spec.Result)
		}
	})
	return m
}

func TestACampaignRunsOnAgents(t *testing.T) {
	b := newBroker(t)
	c := newCampaigner(t, b)
	one, two := newMember(b, 1, "one"), newMember(b, 2, "two")
	out, err := c.run(t, `campaign: agents
endpoints:
  a: {agent: one}
  b: {agent: two, address: 10.0.0.2}
from: a
to: b
tests: {up: {test: tcp, duration: 1s}}
rounds: 2
`)
	if err != nil || out.Done != 2 {
		t.Fatalf("%+v, %v", out, err)
	}
	one.close() // all that it delivers is answered
	n, err := c.results.Count(t.Context(), store.Query{})
	if n != 2 || err != nil {
		t.Errorf("%d results, %v", n, err)
	}
	measured := slices.DeleteFunc(one.specs, func(s agent.Spec) bool { return s.Trial.Campaign == "" })
	if len(measured) != 2 || len(two.specs) != 0 || len(two.servers) != 0 {
		t.Errorf("%d trials, %d at the server, %d servers are left", len(measured), len(two.specs), len(two.servers))
	}
	for _, s := range measured {
		if s.Host != "10.0.0.2" || s.Options.Port != 7002 || !slices.Contains(two.tokens, s.Access.Token) {
			t.Errorf("%s port %d, token %q of %q", s.Host, s.Options.Port, s.Access.Token, two.tokens)
		}
	}
	if slices.Sort(two.tokens); len(slices.Compact(two.tokens)) != 3 { // with that of the check before
		t.Errorf("tokens %q", two.tokens)
	}
}

// The clocks of the agents differ by seconds. Each is told the instant in its own, and the stamps that they send back give the skew.
func TestAGroupOfAgentsStartsAtAnInstant(t *testing.T) {
	b := newBroker(t)
	c := newCampaigner(t, b)
	var mu sync.Mutex
	instants, behind := map[int64]bool{}, map[string]time.Duration{"one": 0, "two": 30 * time.Millisecond, "three": 400 * time.Millisecond}
	for i, name := range []string{"one", "two", "three"} {
		m := newMember(b, i+1, name)
		m.host.mu.Lock()
		m.ahead = time.Duration(i*7-3) * time.Second
		inner := m.trial
		m.trial = func(r *running) {
			if !r.spec.AwaitStart {
				inner(r)
				return
			}
			r.report(fleet.TrialReport{Ready: true})
			<-r.start
			at := time.Unix(0, r.at).Add(-m.ahead)
			mu.Lock()
			instants[at.Round(time.Second/2).UnixNano()] = true
			mu.Unlock()
			time.Sleep(time.Until(at.Add(behind[name])))
			r.report(fleet.TrialReport{Started: true, StartDelayNs: 1, StartedUnixNs: r.at + behind[name].Nanoseconds()})
			r.host.deliver(r.result())
		}
		m.host.mu.Unlock()
	}
	out, err := c.run(t, together)
	if err != nil || out.Done != 6 {
		t.Fatalf("%+v, %v", out, err)
	}
	if len(instants) > 2 { // the same instant, known within half of a round trip, may be rounded in two ways
		t.Errorf("instants %v", instants)
	}
	for r, err := range c.results.Results(t.Context(), store.Query{}, store.Whole) {
		if err != nil || r.Trial.Group == nil || r.Trial.Group.StartSkewNs == nil {
			t.Fatalf("%+v, %v", r.Trial, err)
		}
		// The first is one of two trials, which are as far apart as their clocks are known.
		g, within := r.Trial.Group, 100*time.Microsecond
		if off := time.Duration(*g.StartSkewNs) - behind[r.Trial.Pair.Client.Name]; off.Abs() > time.Duration(2*g.StartSkewErrorNs)+within {
			t.Errorf("%s started %s after the first ± %s", r.Trial.Pair.Client.Name, time.Duration(*g.StartSkewNs), time.Duration(g.StartSkewErrorNs))
		}
		if len(r.Findings.With(finding.StartsApart)) != 1 {
			t.Errorf("a group that starts 400 ms apart has the findings %+v", r.Findings)
		}
	}
}

const together = `campaign: agents
endpoints:
  one: {agent: one, address: 10.0.0.1}
  two: {agent: two, address: 10.0.0.2}
  three: {agent: three, address: 10.0.0.3}
pairs: {mesh: [one, two, three]}
contention: together
tests: {up: {test: tcp, duration: 1s}}
rounds: 1
`

// One order of the first group does not arrive. Trials that have started are stopped; the next group is measured.
func TestALateAgentStopsItsGroupAndNotTheCampaign(t *testing.T) {
	b := newBroker(t)
	c := newCampaigner(t, b)
	var mu sync.Mutex
	lost, stopped := "", 0
	for i, name := range []string{"one", "two", "three"} {
		m := newMember(b, i+1, name)
		m.host.mu.Lock()
		m.hears = func(s fleet.Start) bool {
			mu.Lock()
			defer mu.Unlock()
			if lost == "" && name == "two" {
				lost = s.Result
			}
			return s.Result != lost
		}
		inner := m.trial
		m.trial = func(r *running) {
			if !r.spec.AwaitStart || r.spec.Trial.Round > 1 {
				inner(r)
				return
			}
			r.report(fleet.TrialReport{Ready: true})
			select {
			case <-r.start:
				r.report(fleet.TrialReport{Started: true, StartDelayNs: 1})
			case <-r.ended: // it was late
				r.end(nil)
			}
			<-r.ended
			mu.Lock()
			stopped++
			mu.Unlock()
			failed := r.result()
			failed.Error = measure.TextError(measure.KindInterrupted, "stopped", "")
			r.host.deliver(failed)
		}
		m.host.mu.Unlock()
	}
	out, err := c.run(t, strings.Replace(together, "rounds: 1", "rounds: 2", 1))
	if measure.KindOf(err) != measure.KindIncomplete || out.Done != 12 || out.Failed != 6 {
		t.Fatalf("%+v, %v", out, err)
	}
	mu.Lock()
	defer mu.Unlock()
	if stopped != 6 {
		t.Errorf("%d trials were stopped", stopped)
	}
	for r, err := range c.results.Results(t.Context(), store.Query{}, store.Whole) {
		switch {
		case err != nil:
			t.Fatal(err)
		case r.Trial.Round == 2:
			if r.Error != nil {
				t.Errorf("a trial of the next group: %v", r.Error)
			}
		case r.ID == lost && !agent.Late(r.Error), r.ID != lost && (r.Error == nil || r.Error.Code != "campaign.group_failed"):
			t.Errorf("a trial of the group, late %v: %v", r.ID == lost, r.Error)
		}
	}
}

// Two campaigns at one time want the same hosts: each has them alone.
func TestCampaignsHaveTheirHostsAlone(t *testing.T) {
	b := newBroker(t)
	c := newCampaigner(t, b)
	var mu sync.Mutex
	runs, most := 0, 0
	for i, name := range []string{"one", "two"} {
		m := newMember(b, i+1, name)
		inner := m.trial
		m.host.mu.Lock()
		m.trial = func(r *running) {
			if r.spec.Trial.Campaign != "" {
				mu.Lock()
				runs++
				most = max(most, runs)
				mu.Unlock()
				r.report(fleet.TrialReport{Started: true})
				_, _ = c.Ask(context.Background(), r.host.id) // the trial takes a while
				mu.Lock()
				runs-- // its delivery is no part of it
				mu.Unlock()
			}
			inner(r)
		}
		m.host.mu.Unlock()
	}
	var both sync.WaitGroup
	for _, name := range []string{"first", "second"} {
		both.Go(func() {
			out, err := c.run(t, "campaign: "+name+`
endpoints: {a: {agent: one}, b: {agent: two, address: 10.0.0.2}}
from: a
to: b
tests: {up: {test: tcp, duration: 1s}}
rounds: 5
`)
			if err != nil || out.Done != 5 {
				t.Errorf("%+v, %v", out, err)
			}
		})
	}
	both.Wait()
	if most != 1 {
		t.Errorf("%d trials at one time on a host", most)
	}
}

func TestAPlanWithAgentsNeedsAHub(t *testing.T) {
	text := []byte("campaign: a\nendpoints: {b: {agent: one}}\nto: b\ntests: {up: {test: tcp}}\n")
	file := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	plan, _, err := conduct.Load(file, os.ReadFile, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := conduct.Conductor{Host: conduct.ThisHost(), Store: memory.New(), Journals: new(journal.Memory)}
	_, err = c.Run(t.Context(), conduct.Order{Plan: plan})
	if measure.KindOf(err) != measure.KindUsage || err.Error() != "endpoint b: agent: needs a hub; run the plan at the hub of the agent, or reach the host with ssh:" {
		t.Error(err)
	}
}
