package plan_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"soku/internal/campaign/advice"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/test/plans"
)

// sampled is a mesh of 12 hosts, 132 pairs, that is measured both ways.
func sampled(keys string) string {
	return plans.ManyHosts(12) + "pairs: {mesh: ['*']}\ncontention: [isolated, together]\nrounds: 6\n" + keys
}

func TestASampleOfPairsIsMeasuredOneAtATime(t *testing.T) {
	pairs := map[string]map[string]bool{} // by way and round
	orders := map[int]bool{}
	p := plans.Parse(t, sampled("isolated_pairs: 12\n"))
	trials := 0
	for b := range schedule.Blocks(p, "c", 7) {
		key := fmt.Sprint(b.Pattern.Name, " ", b.Round)
		pairs[key] = map[string]bool{}
		for j := range b.Jobs() {
			trials++
			pairs[key][j.Client.Reference()+">"+j.Server.Reference()] = true
			if order := b.Round*1000 + j.Trial.Order; orders[order] {
				t.Errorf("two trials are trial %d of round %d", j.Trial.Order, b.Round)
			} else {
				orders[order] = true
			}
		}
	}
	sample := pairs["isolated 1"]
	if len(sample) != 12 || len(pairs["together 1"]) != 132 || trials != 6*144 || p.Trials() != trials || p.TrialsOfRound() != 144 {
		t.Fatalf("%d and %d pairs, %d trials; the plan has %d", len(sample), len(pairs["together 1"]), trials, p.Trials())
	}
	for round := 2; round <= 6; round++ {
		if !maps.Equal(pairs[fmt.Sprint("isolated ", round)], sample) {
			t.Errorf("round %d has another sample", round)
		}
	}
	clients, servers := p.Ends(&p.AllPatterns()[slices.IndexFunc(p.AllPatterns(), func(pt plan.Pattern) bool { return !pt.Together })], 100)
	sending, receiving := map[string]bool{}, map[string]bool{}
	for i := range clients {
		sending[clients[i].Reference()], receiving[servers[i].Reference()] = true, true
	}
	if len(sending) != 12 || len(receiving) != 12 {
		t.Errorf("%d of 12 hosts send and %d receive in the sample", len(sending), len(receiving))
	}
	power := func(keys string) float64 {
		w := advice.PowerOf(plans.Parse(t, sampled("factors: {streams: [1, 4]}\n"+keys)), map[string]float64{"up": 0.02}, nil)[0]
		return *w.Factors[slices.IndexFunc(w.Factors, func(f advice.FactorPower) bool { return f.Factor == plan.ContentionFactor })].Smallest
	}
	// Of 12 of 132 pairs an effect is known as from 12.
	if all, some := power(""), power("isolated_pairs: 12\n"); some < 3*all || some > 3.5*all {
		t.Errorf("the smallest effect of contention is %v with all pairs and %v with 12", all, some)
	}
	if e := advice.EstimateOf(p, nil); e.Trials != trials {
		t.Errorf("the estimate has %d trials, the plan %d", e.Trials, trials)
	}
}

func TestASampleOfAllPairsIsAllPairs(t *testing.T) {
	if p := plans.Parse(t, sampled("isolated_pairs: 1000\n")); p.TrialsOfRound() != 2*132 {
		t.Errorf("a round has %d trials", p.TrialsOfRound())
	}
}

func TestAPlanThatMeasuresManyPairsOneAtATimeIsWarnedOf(t *testing.T) {
	for keys, want := range map[string]bool{"": true, "isolated_pairs: 20\n": false, "trials_at_once: 4\n": false} {
		warnings := advice.Warnings(plans.Parse(t, sampled(keys)), nil)
		i := slices.IndexFunc(warnings, func(w advice.DesignWarning) bool { return w.Code == advice.WarnManyIsolated })
		if i >= 0 != want || want && (warnings[i].Pairs != 132 || warnings[i].Sample != 60) {
			t.Errorf("%q: %+v", keys, warnings)
		}
	}
}
