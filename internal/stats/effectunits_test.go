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
