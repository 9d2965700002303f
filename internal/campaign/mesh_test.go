package campaign_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"soku/test/plans"
	"strings"
	"sync"
	"testing"
	"time"

	"soku/internal/campaign"
	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
	"soku/internal/store"
)

// memoryStore is as much of a store as the executor uses.
type memoryStore struct {
	store.Store
	mu       sync.Mutex
	results  map[string]*measure.Result
	campaign store.Campaign
}

func (s *memoryStore) Put(_ context.Context, results ...*measure.Result) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range results {
		s.results[r.ID] = r
	}
	return nil
}

func (s *memoryStore) PutCampaign(_ context.Context, c store.Campaign) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.campaign = c
	return nil
}

func (s *memoryStore) Missing(_ context.Context, ids []string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return s.results[id] != nil }), nil
}

// pair is a trial of a net: between two hosts, and in a group if that is not 0.
type pair struct {
	from, to string
	group    int
}

// net is a campaign whose blocks have trials between many hosts: journal and
// store in memory, and a runner that takes time and calls what a test wants.
type net struct {
	t        *testing.T
	in       journal.Memory
	store    memoryStore
	plan     *plan.Plan
	campaign *campaign.Campaign
	exec     *campaign.Executor

	mu      sync.Mutex
	begin   time.Time
	started []string // "from>to at" in the order in which the runner got them
	running map[string]int
	most    int // trials that ran at the same time
	busy    map[string]time.Duration
	serial  int

	length func(j schedule.Job) time.Duration // of a trial; nil: 10 s
	act    func(ctx context.Context, j schedule.Job, h campaign.Hooks) error
}

func newNet(t *testing.T, limit int, blocks ...[]pair) *net {
	n := netOf(t, plans.Parse(t, plans.Minimal+"rounds: 1\n"), limit)
	n.exec.Blocks = blocksOf(n.plan, blocks)
	return n
}

// netOf is a net for the pairs of a plan.
func netOf(t *testing.T, p *plan.Plan, limit int) *net {
	n := &net{t: t, plan: p, begin: time.Now(),
		running: map[string]int{}, busy: map[string]time.Duration{}, store: memoryStore{results: map[string]*measure.Result{}}}
	n.exec = &campaign.Executor{Runner: n, Store: &n.store, Now: time.Now, Limit: limit,
		Command: func(context.Context, string, []string) ([]byte, error) { return nil, nil }}
	c, err := campaign.Create(&n.in, n.plan, 42, "test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	n.campaign = c
	return n
}

// blocksOf is a schedule with a block for each list of pairs, all of the plan's
// first pattern and test.
func blocksOf(plan *plan.Plan, blocks [][]pair) func(c *campaign.Campaign) iter.Seq[schedule.Block] {
	pt := &plan.AllPatterns()[0]
	return func(c *campaign.Campaign) iter.Seq[schedule.Block] {
		return func(yield func(schedule.Block) bool) {
			for i, pairs := range blocks {
				if !yield(blockOf(c.ID(), pt, i+1, pairs)) {
					return
				}
			}
		}
	}
}

func blockOf(campaignID string, pt *plan.Pattern, round int, pairs []pair) schedule.Block {
	b := schedule.Block{Round: round, Pattern: pt, Len: len(pairs)}
	host := func(name string) int {
		if !slices.Contains(b.Hosts, name) {
			b.Hosts = append(b.Hosts, name)
		}
		return slices.Index(b.Hosts, name)
	}
	slots := make([]schedule.Slot, len(pairs))
	for k, p := range pairs {
		slots[k] = schedule.Slot{Client: host(p.from), Server: host(p.to), Group: p.group}
	}
	b.Slot = func(k int) schedule.Slot { return slots[k] }
	b.Job = func(k int) schedule.Job {
		client, server := measure.Endpoint{Name: pairs[k].from}, measure.Endpoint{Name: pairs[k].to, Address: "10.0.0.1"}
		return schedule.Job{
			Trial: measure.Trial{Campaign: campaignID, Pattern: pt.Name, Levels: pt.Levels, Label: "throughput", Round: round,
				Repeat: 1, Order: k + 1, Seed: 42, Pair: &measure.Pair{Client: client, Server: server}},
			Test: pt.Tests[0].Test, Options: pt.Tests[0].Options,
			Client: plan.Target{Endpoint: client}, Server: plan.Target{Endpoint: server},
		}
	}
	return b
}

func name(j schedule.Job) string { return j.Client.Endpoint.Name + ">" + j.Server.Endpoint.Name }

func (n *net) Run(ctx context.Context, j schedule.Job, h campaign.Hooks) *measure.Result {
	length := 10 * time.Second
	if n.length != nil {
		length = n.length(j)
	}
	n.mu.Lock()
	n.serial++
	res := invented(j, fmt.Sprintf("%08d", n.serial), 1000)
	n.started = append(n.started, fmt.Sprintf("%s %s", name(j), time.Since(n.begin)))
	for _, host := range []string{j.Client.Endpoint.Name, j.Server.Endpoint.Name} {
		n.running[host]++
		if n.running[host] > 1 && h.Ready == nil {
			n.t.Errorf("host %s is in two trials at once", host)
		}
		n.busy[host] += length
	}
	n.running[""]++
	n.most = max(n.most, n.running[""])
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.running[j.Client.Endpoint.Name]--
		n.running[j.Server.Endpoint.Name]--
		n.running[""]--
	}()
	var err error
	if n.act != nil {
		err = n.act(ctx, j, h)
	} else if h.Ready != nil {
		_, err = h.Ready(ctx, 0)
	}
	if err == nil {
		select {
		case <-time.After(length):
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	if err != nil {
		res.Error = measure.AsError(err, measure.KindBroken)
	}
	return res
}

func (n *net) run() (campaign.Outcome, error) {
	n.started, n.most, n.begin = nil, 0, time.Now()
	return n.exec.Run(n.t.Context(), n.campaign)
}

// resume closes the campaign and opens it again.
func (n *net) resume() {
	n.t.Helper()
	if err := n.campaign.Close(); err != nil {
		n.t.Fatal(err)
	}
	c, err := campaign.Resume(&n.in, n.campaign.ID(), n.plan)
	if err != nil {
		n.t.Fatal(err)
	}
	n.campaign = c
}

// records are those of a kind in the journal.
func (n *net) records(kind string) []journal.Record {
	n.t.Helper()
	var out []journal.Record
	if err := n.in.Read(n.campaign.ID(), func(r journal.Record) error {
		if r.Kind == kind {
			out = append(out, r)
		}
		return nil
	}); err != nil {
		n.t.Fatal(err)
	}
	return out
}

// finished counts the results in the journal by trial.
func (n *net) finished() map[string]int {
	out := map[string]int{}
	for _, r := range n.records(journal.RecordTrialFinished) {
		out[identity(*r.Trial)]++
	}
	for _, g := range n.records(journal.RecordGroupFinished) {
		for _, r := range g.Group {
			out[identity(*r.Trial)]++
		}
	}
	return out
}

// onceEach fails unless every trial has one result in the journal and the store.
func (n *net) onceEach(want int) {
	n.t.Helper()
	all := n.finished()
	for trial, count := range all {
		if count != 1 {
			n.t.Errorf("%s has %d results", trial, count)
		}
	}
	if len(all) != want || len(n.store.results) != want {
		n.t.Errorf("%d trials have a result, %d results are in the store; want %d", len(all), len(n.store.results), want)
	}
}

// meshOf are the trials of a mesh, in both directions.
func meshOf(n int) []pair {
	var out []pair
	for i := range n {
		for j := range n {
			if i != j {
				out = append(out, pair{from: fmt.Sprint("h", i), to: fmt.Sprint("h", j)})
			}
		}
	}
	return out
}

func lines(list []string) string { return strings.Join(list, "\n") }
