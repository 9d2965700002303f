package stats

import (
	"math"
	"strconv"
	"testing"
)

func TestBlocksOfOtherFactors(t *testing.T) {
	// Pairs of hosts differ in how much a matters; rounds are alike.
	o := factorial([]string{"a", "pair", "size"}, []int{2, 5, 2}, 3, func(at []int, _ int) float64 {
		return float64(at[0]) * (0.1 + 0.02*float64(at[1]))
	})
	rounds, pairs := effects(o, EffectOptions{}).Factors[0].Pairs[0], effects(o, EffectOptions{Blocks: []int{1}}).Factors[0].Pairs[0]
	near(t, "estimate", pairs.Log, 0.14, 1e-12)
	near(t, "the same by rounds", rounds.Log, 0.14, 1e-12)
	// Student's t of 0.1, 0.12, ..., 0.18: 2.776445 standard errors of 0.0316228/sqrt(5).
	near(t, "low", pairs.Low, 0.14-2.7764451052*0.0316227766/math.Sqrt(5), 1e-9)
	if pairs.Units != 5 || pairs.Unit != UnitLevels || rounds.Units != 3 || rounds.Unit != UnitRound {
		t.Errorf("units of %+v and %+v", pairs, rounds)
	}
	if own := effects(o, EffectOptions{Blocks: []int{1}}).Factors[1].Pairs[0]; own.Unit != UnitRound {
		t.Errorf("the effect of the blocks themselves has units %s", own.Unit)
	}
}

func TestDeploymentsAreUnitsWhereHostsWereRedeployed(t *testing.T) {
	o := factorial([]string{"a", "b"}, []int{2, 2}, 6, func(at []int, round int) float64 { return float64(at[0]) * (0.1 + 0.01*float64(round)) })
	units := func(deployment func(r Observation) string) (Unit, int) {
		for i, r := range o.Rows {
			o.Rows[i].Deployment = deployment(r)
		}
		pair := effects(o, EffectOptions{}).Factors[0].Pairs[0]
		near(t, "estimate", pair.Log, 0.125, 1e-12)
		return pair.Unit, pair.Units
	}
	host := func(r Observation) string { return r.Levels[0] + r.Levels[1] }
	for name, c := range map[string]struct {
		deployment func(r Observation) string
		unit       Unit
		units      int
	}{
		"unknown":            {func(Observation) string { return "" }, UnitRound, 6},
		"once":               {host, UnitRound, 6},
		"every second round": {func(r Observation) string { return host(r) + strconv.Itoa(r.Round/2) }, UnitDeployment, 3},
		"one host, one time": {func(r Observation) string { return host(r) + strconv.FormatBool(host(r) == "a1b0" && r.Round > 2) }, UnitDeployment, 2},
		"known from round 3": {func(r Observation) string { return host(r)[:4*min(1, r.Round/3)] }, UnitRound, 6},
		"unknown in between": {func(r Observation) string { return host(r)[:4*(r.Round%2)] }, UnitRound, 6},
		"unknown after another": {func(r Observation) string {
			switch {
			case host(r) == "a0b0":
				return strconv.FormatBool(r.Round > 2)
			case r.Round < 1 || r.Round > 4:
				return strconv.FormatBool(r.Round > 4)
			}
			return ""
		}, UnitDeployment, 2},
		"another every round": {func(r Observation) string { return host(r) + strconv.Itoa(r.Round) }, UnitDeployment, 6},
	} {
		if unit, n := units(c.deployment); unit != c.unit || n != c.units {
			t.Errorf("%s: %d units: %s, want %d: %s", name, n, unit, c.units, c.unit)
		}
	}
}

// One round of 4 x 6 levels: the combinations of the other factor are the units, and have no order of time.
func TestLevelsOfOneRoundHaveNoAutocorrelation(t *testing.T) {
	const levels, units = 4, 6
	noise := normals(source(5), levels*units, 0, 0.02)
	table := make([][]float64, levels)
	o := factorial([]string{"a", "b"}, []int{levels, units}, 1, func(at []int, _ int) float64 {
		log := 0.1*float64(at[0]) + 0.3*float64(at[1]) + noise[at[0]*units+at[1]]
		table[at[0]] = append(table[at[0]], log)
		return log
	})
	c, residuals := pairContrasts(table), residualsOf(table)
	if _, ok := c.moderate(0, residuals.df, residuals.pairVariance()); !ok {
		t.Fatal("no prior")
	}
	for _, pair := range effects(o, EffectOptions{}).Factors[0].Pairs {
		e := c.all[pairIndex(levels, pair.Over, pair.Of)]
		near(t, "half width", (pair.High-pair.Low)/2, criticalValues(0.05)(e.df)*e.err, 1e-9)
		if pair.Unit != UnitLevels || pair.Units != units {
			t.Errorf("units of %+v", pair)
		}
	}
}

// A level without a round mean in a combination is compared over the combinations that it has.
func TestLevelsArePairedByTheirCombination(t *testing.T) {
	for name, rounds := range map[string]int{"one round": 1, "pairs of hosts in three rounds": 3} {
		o := factorial([]string{"a", "b"}, []int{4, 6}, rounds, func(at []int, _ int) float64 {
			if at[0] == 0 && at[1] == 1 || at[0] == 1 && at[1] == 4 {
				return math.Inf(-1) // a round mean of 0
			}
			return 0.1*float64(at[0]) + 0.5*float64(at[1])
		})
		got := effects(o, EffectOptions{Blocks: []int{1}}).Factors[0]
		for _, pair := range got.Pairs {
			want := 6
			for _, level := range []int{pair.Of, pair.Over} {
				if level < 2 {
					want--
				}
			}
			near(t, name, pair.Log, 0.1*float64(pair.Of-pair.Over), 1e-12)
			if pair.Units != want {
				t.Errorf("%s: %d units of levels %d and %d, want %d", name, pair.Units, pair.Of, pair.Over, want)
			}
		}
	}
}
