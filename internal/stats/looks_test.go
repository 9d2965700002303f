package stats

import (
	"math"
	"slices"
	"testing"
)

// lookedAt are log ratios of which a test at 5 % shows a difference and one at the level of
// looks up to 40 rounds does not.
func lookedAt(t *testing.T) []float64 {
	d := []float64{0.031, 0.002, 0.04, -0.001, 0.028, 0.013, 0.035, -0.006}
	if _, _, p := oneLook(d, 0.95); p > 0.03 || p < 0.008 {
		t.Fatalf("p is %g", p)
	}
	return d
}

func TestDecisionsAtALookTakeItsLevel(t *testing.T) {
	d := lookedAt(t)
	groups := inUnits([][]float64{d, make([]float64, len(d))}, 1)
	pairs := []ChoicePair{{groups[0], groups[1]}}
	for _, c := range []struct {
		looks Looks
		want  Decision
	}{{Looks{}, Better}, {LooksUpTo(8), Better}, {LooksUpTo(40), NotShown}, {LooksUpTo(0), NotShown}} {
		got := c.looks.CompareChoices(pairs, true, 0.001)[0]
		if got.Decision != c.want || (got.Low > 1) != (c.want == Better) || (got.Adjusted <= c.looks.Alpha()) != (c.want == Better) {
			t.Errorf("%+v: %s, p %g, interval %g to %g; want %s", c.looks, got.Decision, got.Adjusted, got.Low, got.High, c.want)
		}
		ranked := c.looks.Rank(groups, true, 0)
		if (ranked[1].Rank == 2) != (c.want == Better) {
			t.Errorf("%+v: %+v", c.looks, ranked)
		}
		undecided, compared := c.looks.Undecided(groups, true, 0.001, AgainstBest)
		if compared != 1 || (len(undecided) == 0) != (c.want == Better) {
			t.Errorf("%+v: %v undecided of %d", c.looks, undecided, compared)
		}
	}
}

func TestLooksWithoutAMaximumDecideByEValues(t *testing.T) {
	d := lookedAt(t)
	groups := inUnits([][]float64{d, make([]float64, len(d))}, 1)
	got := LooksUpTo(0).CompareChoices([]ChoicePair{{groups[0], groups[1]}}, true, 0.02)[0]
	i := paired(d).at(LooksUpTo(0)).interval(0.05)
	low, high := i.Low, i.High
	near(t, "p", got.P, 1/evidence(d), 1e-12)
	near(t, "low", got.Low, math.Exp(low), 1e-12)
	near(t, "high", got.High, math.Exp(high), 1e-12)
	if n := got.Further(); n.Least < 1 || n.Most < n.Likely || n.Likely < n.Least {
		t.Errorf("further rounds: %+v", n)
	}
	// Equivalence and the interval agree.
	for _, threshold := range []float64{0.02, math.Expm1(high) * 1.0001, math.Expm1(high) * 0.9999} {
		got := LooksUpTo(0).CompareChoices([]ChoicePair{{groups[0], groups[1]}}, true, threshold)[0]
		if inside := high < math.Log1p(threshold) && -low < math.Log1p(threshold); (got.Decision == Same) != inside {
			t.Errorf("threshold %g: %s, interval of logs %g to %g", threshold, got.Decision, low, high)
		}
	}
	// What was not measured in the same rounds has no e-value.
	apart := []ChoicePair{{groups[0].inSession(1), groups[1].inSession(2)}}
	if got := LooksUpTo(0).CompareChoices(apart, true, 0.02)[0]; got.Untested != Unpaired || got.Decision != NotShown {
		t.Errorf("unpaired: %+v", got)
	}
	if got := LooksUpTo(20).CompareChoices(apart, true, 0.02)[0]; got.Untested != "" {
		t.Errorf("unpaired, at most 20 rounds: %+v", got)
	}
}

func TestIntervalsOfAPairAreThoseOfAllLooks(t *testing.T) {
	d := lookedAt(t)
	groups := inUnits([][]float64{d, make([]float64, len(d))}, 1)
	compare := func(l Looks, level float64) Comparison { return l.Compare(groups[0], groups[1], level) }
	for _, level := range []float64{0.95, 0.99} {
		once := Compare(groups[0], groups[1], 1-(1-level)*0.011/0.05)
		looked := compare(LooksUpTo(20), level)
		near(t, "low of at most 20 looks", looked.Low, once.Low, 1e-12)
		near(t, "high of at most 20 looks", looked.High, once.High, 1e-12)
		anytime := paired(d).at(LooksUpTo(0)).interval(1 - level)
		near(t, "low of any number of looks", compare(LooksUpTo(0), level).Low, math.Expm1(anytime.Low), 1e-12)
		near(t, "high of any number of looks", compare(LooksUpTo(0), level).High, math.Expm1(anytime.High), 1e-12)
	}
}

func TestManyPatternsAreDecidedAgainstWhatIsAsked(t *testing.T) {
	const rounds = 12
	logs := table(3, []float64{0, 0.2, 0, 0.2, 0.1}, rounds, 0.004)
	groups := inUnits(logs, 1)
	groups = append(groups, Group{Name: "failed", Rounds: make([][]float64, rounds)})
	for against, want := range map[Against]struct {
		compared  int
		undecided [][2]int
	}{AgainstBest: {4, nil}, AgainstFirst: {4, nil}, AgainstAll: {10, nil}} {
		undecided, compared := LooksUpTo(20).Undecided(groups, true, 0.02, against)
		if compared != want.compared || len(undecided) != 0 {
			t.Errorf("%s: %v undecided of %d", against, undecided, compared)
		}
		// A threshold that none of them rules out: the equal ones stay undecided.
		undecided, _ = LooksUpTo(20).Undecided(groups, true, 0.0001, against)
		for _, p := range undecided {
			if a, b := min(p[0], p[1]), max(p[0], p[1]); !slices.Contains([][2]int{{0, 2}, {1, 3}}, [2]int{a, b}) {
				t.Errorf("%s: %v is undecided", against, p)
			}
		}
		if least := map[Against]int{AgainstBest: 1, AgainstFirst: 1, AgainstAll: 2}[against]; len(undecided) != least {
			t.Errorf("%s: %v undecided, want %d", against, undecided, least)
		}
	}
	if undecided, compared := LooksUpTo(20).Undecided(groups[4:], true, 0.02, AgainstBest); compared != 0 || undecided != nil {
		t.Errorf("one pattern: %v of %d", undecided, compared)
	}
}

// A difference that all of a few common rounds have was seen: that is no decision.
func TestFewCommonRoundsDecideNothing(t *testing.T) {
	for common, want := range map[int]int{5: 1, 6: 0} {
		groups := inUnits(table(7, []float64{0.3, 0}, 12, 0.004), 1)
		for round := common; round < 12; round++ {
			groups[1].Rounds[round] = nil
		}
		for _, against := range []Against{AgainstBest, AgainstAll} {
			if undecided, compared := LooksUpTo(20).Undecided(groups, true, 0.02, against); compared != 1 || len(undecided) != want {
				t.Errorf("%d common rounds, %s: %v undecided of %d, want %d", common, against, undecided, compared, want)
			}
		}
	}
}

func TestEffectsAreDecidedAtTheLevelOfTheLooks(t *testing.T) {
	noise := lookedAt(t)
	table := factorial([]string{"a"}, []int{2}, len(noise), func(at []int, round int) float64 {
		return float64(at[0]) * noise[round]
	})
	cells := table.Cells("tcp", "goodput")
	once := FindEffects(cells, EffectOptions{Threshold: 0.001}).Factors[0]
	looked := FindEffects(cells, EffectOptions{Threshold: 0.001, Looks: LooksUpTo(40)}).Factors[0]
	anytime := FindEffects(cells, EffectOptions{Threshold: 0.001, Looks: LooksUpTo(0)}).Factors[0]
	if once.Matters != MattersYes || looked.Matters != MattersNotShown || anytime.Matters != MattersNotShown {
		t.Errorf("once %s, up to 40 rounds %s, any number %s", once.Matters, looked.Matters, anytime.Matters)
	}
	if !(once.Pairs[0].Low > 0) || looked.Pairs[0].Low > 0 || anytime.Pairs[0].Low > looked.Pairs[0].Low {
		t.Errorf("intervals begin at %g, %g, %g", once.Pairs[0].Low, looked.Pairs[0].Low, anytime.Pairs[0].Low)
	}
}
