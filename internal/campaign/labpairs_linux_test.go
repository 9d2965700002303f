package campaign_test

import (
	"fmt"
	"slices"
	"soku/test/plans"
	"strings"
	"testing"
	"time"

	"soku/internal/campaign"
	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
	"soku/test/tier"
)

// runInLab runs a plan of pairs between the hosts of a lab, h0 and so on.
func runInLab(t *testing.T, hosts int, keys string) *net {
	t.Helper()
	tier.SpendsSeconds(t)
	var names, endpoints []string
	for i := range hosts {
		names = append(names, fmt.Sprint("h", i))
		endpoints = append(endpoints, fmt.Sprintf("h%d: {host: h%d}", i, i))
	}
	l := labOf(t, names...)
	p := plans.Parse(t, fmt.Sprintf("campaign: pairs\nlab: topology.yaml\nendpoints: {%s}\nrounds: 1\n%s", strings.Join(endpoints, ", "), keys))
	if err := p.Resolve(func(host, label string) (string, error) {
		a, err := l.Topology.Address(host, label)
		return a.String(), err
	}); err != nil {
		t.Fatal(err)
	}
	n := netOf(t, p, p.Concurrency())
	n.exec.Runner = placesIn(t, l)
	if failures, err := campaign.Preflight(t.Context(), n.exec.Runner, schedule.Probes(p, nil)); err != nil || len(failures) > 0 {
		t.Fatalf("failures of probes: %v (%v)", failures, err)
	}
	if out, err := n.run(); err != nil || out.Done != p.Trials() {
		t.Fatalf("outcome %+v, error %v", out, err)
	}
	for _, r := range n.store.results {
		if r.Error != nil || r.Summary.ReceivedBytes == 0 {
			t.Errorf("%+v: %+v, error %v", r.Trial.Pair, r.Summary, r.Error)
		}
	}
	return n
}

// span is from the start of a trial to its end, in the journal.
type span struct {
	trial      plan.TrialKey
	begin, end time.Time
}

func (n *net) spans() []span {
	n.t.Helper()
	begun := map[string]time.Time{}
	for _, r := range n.records(journal.RecordTrialStarted) {
		begun[identity(*r.Trial)] = r.At
	}
	var out []span
	for _, r := range n.records(journal.RecordTrialFinished) {
		out = append(out, span{*r.Trial, begun[identity(*r.Trial)], r.At})
	}
	for _, g := range n.records(journal.RecordGroupFinished) {
		for _, r := range g.Group {
			out = append(out, span{*r.Trial, begun[identity(*r.Trial)], r.At})
		}
	}
	return out
}

// atOnce is the largest number of trials that ran at one moment, and fails the test if a
// host was in two of them.
func atOnce(t *testing.T, spans []span) int {
	t.Helper()
	most := 0
	for _, s := range spans {
		running := 0
		for _, o := range spans {
			if o.begin.After(s.begin) || !o.end.After(s.begin) {
				continue
			}
			running++
			shared := slices.ContainsFunc([]string{s.trial.Client, s.trial.Server}, func(h string) bool { return h == o.trial.Client || h == o.trial.Server })
			if shared && identity(o.trial) != identity(s.trial) {
				t.Errorf("%s > %s and %s > %s ran at once", s.trial.Client, s.trial.Server, o.trial.Client, o.trial.Server)
			}
		}
		most = max(most, running)
	}
	return most
}

func TestInALabAMeshMeasuresAllItsPairsThreeAtATime(t *testing.T) {
	t.Parallel()
	n := runInLab(t, 6, "pairs: {mesh: ['*']}\ntests: {up: {test: tcp, duration: 500ms, rate: 10M}}\n")
	n.onceEach(30)
	spans := n.spans()
	if most := atOnce(t, spans); most != 3 {
		t.Errorf("%d trials at once, want 3", most)
	}
	first, last, busy := spans[0].begin, spans[0].end, time.Duration(0)
	for _, s := range spans {
		busy += 2 * s.end.Sub(s.begin)
		if s.begin.Before(first) {
			first = s.begin
		}
		if s.end.After(last) {
			last = s.end
		}
	}
	// Idle for a part of a trial now and then, and not for whole trials. Trials of half a
	// second vary more, compared with their length, than those that people run.
	idle := 1 - float64(busy)/float64(6*last.Sub(first))
	t.Logf("30 trials in %s; hosts are idle %.1f %% of the time", last.Sub(first), 100*idle)
	if idle > 0.25 {
		t.Errorf("hosts are idle %.1f %% of the time", 100*idle)
	}
}

func TestInALabNinePairsRunIsolatedAndTogether(t *testing.T) {
	t.Parallel()
	var pairs []string
	for i := range 9 {
		pairs = append(pairs, fmt.Sprintf("[h%d, h%d]", i, i+9))
	}
	n := runInLab(t, 18, "pairs: {list: ["+strings.Join(pairs, ", ")+"]}\ncontention: [isolated, together]\ntests: {up: {test: tcp, duration: 500ms, rate: 10M}}\n")
	n.onceEach(18)
	if most := atOnce(t, n.spans()); most != 9 {
		t.Errorf("%d trials at once, want 9", most)
	}
	skews := map[string]int{}
	for _, r := range n.store.results {
		together := slices.Contains(r.Trial.Levels, measure.Level{Factor: plan.ContentionFactor, Value: plan.Together})
		switch g := r.Trial.Group; {
		case !together && g != nil:
			t.Errorf("%+v is isolated, and in group %+v", r.Trial.Pair, g)
		case together && (g == nil || g.Trials != 9 || g.StartSkewNs == nil):
			t.Errorf("%+v is together with others, and in group %+v", r.Trial.Pair, g)
		case together && *g.StartSkewNs == 0:
			skews["first"]++
		case together:
			skews["later"]++
		}
	}
	if skews["first"] != 1 || skews["later"] != 8 {
		t.Errorf("of the group %d started first and %d later", skews["first"], skews["later"])
	}
}
