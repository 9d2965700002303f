package stats

import (
	"math"
	"soku/internal/measure/finding"
	"soku/test/tier"
	"testing"
)

func TestPairedComparisonsCoverTheDifferenceUnderSharedDrift(t *testing.T) {
	tier.SpendsSeconds(t)
	for _, rounds := range []int{3, 5, 8, 15} {
		wide := 0.0
		got := share(1000, func(seed uint64) bool {
			r := source(seed)
			shared := drift(r, rounds, 0.9, 40)
			c := Compare(exponentials(simulated(r, "a", 3, 2, 2, shared)), exponentials(simulated(r, "b", 0, 2, 2, shared)), 0.95)
			wide += (c.High - c.Low) / 1000
			return c.Low <= math.Expm1(0.03) && math.Expm1(0.03) <= c.High
		})
		if got < 0.93 || got > 0.985 {
			t.Errorf("%d rounds: %.1f %% of the intervals hold the true difference", rounds, got*100)
		}
		if rounds >= 5 && wide > 0.4 {
			t.Errorf("%d rounds: intervals are %.2f wide on average; the shared drift was not taken out", rounds, wide)
		}
	}
}

func TestPairedIntervalsAreThoseOfR(t *testing.T) {
	for _, c := range intervalsOfR(t) {
		var a, b Group
		for i, l := range c.LogRatios {
			level := 50 + 7*float64(i%5) // what both share cancels out
			a.Rounds, b.Rounds = append(a.Rounds, []float64{level * math.Exp(l)}), append(b.Rounds, []float64{level})
		}
		got := Compare(a, b, 0.95)
		if !got.Ratio || got.Rounds != len(c.LogRatios) {
			t.Errorf("%s: %+v", c.Name, got)
		}
		// By the rule for one pair, which is tested by itself.
		if rule := estimateOf(c.LogRatios); got.Rounds < 3 || rule.ranks != nil || rule.err != studentOf(c.LogRatios).err {
			if got.Tested() != (got.Rounds >= 3) || got.SignedRanks != (rule.ranks != nil) {
				t.Errorf("%s: %+v", c.Name, got)
			}
			continue
		}
		near(t, c.Name+": low", math.Log1p(got.Low), c.Low, 1e-8)
		near(t, c.Name+": high", math.Log1p(got.High), c.High, 1e-8)
	}
}

func TestOnlyRoundsOfOneSessionArePaired(t *testing.T) {
	rounds := func(values ...float64) (out [][]float64) {
		for _, v := range values {
			out = append(out, []float64{v})
		}
		return out
	}
	on := Group{Name: "on", Rounds: rounds(110, 111, 112, 110, 111, 112), Sessions: [][]int{{1}, {1}, {1}, {1}, {1}, {1}}}
	off := Group{Name: "off", Rounds: rounds(100, 101, 102, 100, 101, 102), Sessions: [][]int{{2}, {2}, {2}, {2}, {2}, {2}}}
	if c := Compare(on, off, 0.95); c.Rounds != 0 || !c.Apart || !c.Shown() {
		t.Errorf("measured in different sessions: %+v", c)
	}
	if got := Rank([]Group{on, off}, true, 0)[1].Reason.Code; got != finding.RankBelowOtherRun {
		t.Errorf("the reason is %s", got)
	}
	if got := Rank([]Group{on, off}, false, 0)[1].Reason.Code; got != finding.RankAboveOtherRun {
		t.Errorf("the reason is %s", got)
	}
	// A run that was interrupted in round 2: its rounds 1 and 3 are interleaved.
	interrupted := Group{Name: "off", Rounds: rounds(100, 101, 102), Sessions: [][]int{{1}, {2}, {2}}}
	on.Rounds, on.Sessions = on.Rounds[:3], [][]int{{1}, {1}, {2}}
	if c := Compare(on, interrupted, 0.95); c.Rounds != 2 || c.Apart {
		t.Errorf("interrupted: %+v", c)
	}
	// Repeats of one round in two sessions, such as one that was repeated.
	interrupted.Sessions[1] = []int{2, 1}
	if c := Compare(on, interrupted, 0.95); c.Rounds != 3 || c.Apart {
		t.Errorf("repeated: %+v", c)
	}
}

func TestComparisonsHoldForSkewedNoise(t *testing.T) {
	tier.SpendsSeconds(t)
	for _, rounds := range []int{4, 10} {
		got := share(1000, func(seed uint64) bool {
			r := source(seed)
			skewed := func() Group {
				g := Group{}
				for range rounds {
					g.Rounds = append(g.Rounds, []float64{math.Exp(r.NormFloat64())})
				}
				return g
			}
			return !Compare(skewed(), skewed(), 0.95).Shown()
		})
		if got < 0.93 {
			t.Errorf("%d rounds: a difference that is not there is shown in %.1f %%", rounds, (1-got)*100)
		}
	}
}

func TestMissingRoundsArePairedByTheirNumber(t *testing.T) {
	// Both follow a strong drift; unpaired or shifted pairs would hide the difference.
	a := Group{Name: "a", Rounds: [][]float64{{110}, {}, {220}, {330}, {440}}}
	b := Group{Name: "b", Rounds: [][]float64{{100}, {150}, {200}, {300}, {400}}}
	c := Compare(a, b, 0.95)
	if c.Rounds != 4 || !c.Shown() || math.Abs(c.Difference-0.1) > 1e-9 {
		t.Errorf("%+v", c)
	}
}

func TestGroupsWithoutSharedRoundsAreComparedUnpaired(t *testing.T) {
	a := Group{Name: "a", Rounds: [][]float64{{10}, {11}, {}, {}, {10.4}, {}}}
	b := Group{Name: "b", Rounds: [][]float64{nil, nil, {20}, {21.5}, nil}}
	// By hand, of the logarithms: standard error 0.0455245, df 2.145134, t 4.035381.
	by := welch(present(a.means().logs), present(b.means().logs))
	by.logs = true
	near(t, "low", by.interval(0.05).Low, -0.580282, 1e-6)
	near(t, "high", by.interval(0.05).High, -0.393927, 1e-6)
	if c := Compare(a, b, 0.95); c.Rounds != 0 || c.Tested() {
		t.Errorf("two rounds were tested: %+v", c)
	}
	b.Rounds = append(b.Rounds, []float64{20.5})
	if c := Compare(a, b, 0.95); c.Rounds != 0 || !c.Shown() {
		t.Errorf("%+v", c)
	}
	one := Compare(a, Group{Name: "c", Rounds: [][]float64{nil, nil, {20}}}, 0.95)
	if one.Tested() || one.Shown() {
		t.Errorf("one value was tested: %+v", one)
	}
}
