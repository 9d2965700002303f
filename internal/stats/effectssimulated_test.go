package stats

import (
	"slices"
	"strconv"
	"testing"
)

// campaign makes a table of 3 x 2 levels in 12 rounds whose noise differs between cells, on
// a drift that all share. The factor a is worth gain a level.
func campaign(seed uint64, gain, deployments float64) Observations {
	r := source(seed)
	shared := drift(r, 12, 0.8, 0.05)
	var hosts [3][2]float64
	o := factorial([]string{"a", "b"}, []int{3, 2}, 12, func(at []int, round int) float64 {
		if round%3 == 0 {
			hosts[at[0]][at[1]] = deployments * r.NormFloat64()
		}
		return gain*float64(at[0]) + 0.5*float64(at[1]) + shared[round] + hosts[at[0]][at[1]] + 0.01*float64(1+at[0]+at[1])*r.NormFloat64()
	})
	for i := range o.Rows {
		o.Rows[i].Deployment = strconv.Itoa(o.Rows[i].Round / 3)
	}
	return o
}

func shown[T any](all []T, holm func(T) float64) bool {
	return slices.ContainsFunc(all, func(v T) bool { return holm(v) <= 0.05 })
}

func holmOf(p LevelPair) float64 { return p.Holm }

func TestEffectsFindFewFalseDifferencesAndMostTrueOnes(t *testing.T) {
	const design = "3 x 2 levels, 12 rounds, unequal noise"
	found := func(question, design string, gain, deployments float64, known bool, shown func(Effects) bool) simulation {
		return simulate(t, question, design, 400, func(seed uint64) bool {
			o := campaign(seed, gain, deployments)
			for i := range o.Rows {
				if !known {
					o.Rows[i].Deployment = ""
				}
			}
			return shown(effects(o, EffectOptions{Threshold: 0.03}))
		})
	}
	levels := func(e Effects) bool { return shown(e.Factors[0].Pairs, holmOf) }
	tetrads := func(e Effects) bool {
		return shown(e.Interactions[0].Tetrads, func(t Tetrad) float64 { return t.Holm })
	}
	const equal, none = "a difference between equal levels is shown", "an interaction is shown where there is none"
	found(equal, design, 0, 0, false, levels).atMost(0.05)
	found(none, design, 0, 0, false, tetrads).atMost(0.05)
	found("levels that differ by 4 % are shown", design, 0.04, 0, false, levels).atLeast(0.95)
	found(none, design+", levels that differ by 4 %", 0.04, 0, false, tetrads).atMost(0.05)
	const redeployed = design + ", 4 deployments"
	found(equal, redeployed, 0, 0.03, true, levels).atMost(0.05)
	found(none, redeployed, 0, 0.03, true, tetrads).atMost(0.05)
	// Where that is not known, it is as bad as it says.
	found(equal, redeployed+" that are not known", 0, 0.03, false, levels).atLeast(0.15)
}
