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
	const campaigns = 400
	rate := func(gain, deployments float64, known bool) (levels, tetrads float64) {
		levels = share(campaigns, func(seed uint64) bool {
			o := campaign(seed, gain, deployments)
			for i := range o.Rows {
				if !known {
					o.Rows[i].Deployment = ""
				}
			}
			got := effects(o, EffectOptions{Threshold: 0.03})
			if shown(got.Interactions[0].Tetrads, func(t Tetrad) float64 { return t.Holm }) {
				tetrads += 1.0 / campaigns
			}
			return shown(got.Factors[0].Pairs, holmOf)
		})
		return levels, tetrads
	}
	// With 400 campaigns, a rule of 5 % is above 9.5 % one time in 10,000.
	if levels, tetrads := rate(0, 0, false); levels > 0.095 || tetrads > 0.095 {
		t.Errorf("false: levels %.1f %%, interactions %.1f %%", levels*100, tetrads*100)
	}
	if levels, tetrads := rate(0.04, 0, false); levels < 0.9 || tetrads > 0.095 {
		t.Errorf("levels that differ: shown in %.1f %%; false interactions %.1f %%", levels*100, tetrads*100)
	}
	if levels, tetrads := rate(0, 0.03, true); levels > 0.095 || tetrads > 0.095 {
		t.Errorf("false, hosts redeployed: levels %.1f %%, interactions %.1f %%", levels*100, tetrads*100)
	}
	// Where that is not known, it is as bad as it says.
	if levels, _ := rate(0, 0.03, false); levels < 0.12 {
		t.Errorf("unknown deployments: only %.1f %% false", levels*100)
	}
}
