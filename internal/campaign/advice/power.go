package advice

import (
	"maps"
	"math"
	"slices"
	"sort"

	"soku/internal/campaign/plan"
	"soku/internal/stats"
)

// Power is how small a difference a test of the plan shows with a probability of 80 %, where
// nothing is missing and all patterns vary alike.
type Power struct {
	Label    string  `json:"label"`
	Noise    float64 `json:"noise_ratio"` // standard deviation of a pattern's round means
	Rounds   int     `json:"rounds"`
	Patterns int     `json:"patterns"` // that are compared, times the pairs of hosts
	// Smallest is the smallest difference between two patterns, as a ratio such as 0.03; nil
	// if no difference can be shown.
	Smallest *float64      `json:"smallest_ratio,omitempty"`
	Factors  []FactorPower `json:"factors,omitempty"` // with two factors or more, those with several levels that are compared
	// Needed is the rounds that would show the practical threshold between two patterns: 0 if
	// the plan has as many, -1 for more than 1000.
	Needed int `json:"needed_rounds"`
	// Halved is what half of the levels of the factor that has most, and twice the rounds, show in
	// the same time, or nil if no factor has four levels or that shows nothing.
	Halved *HalvedPower `json:"half_the_levels,omitempty"`
}

// HalvedPower is as [Power], of a plan with fewer levels of a factor and more rounds.
type HalvedPower struct {
	Factor   string  `json:"factor"`
	Levels   int     `json:"levels"`
	Rounds   int     `json:"rounds"`
	Smallest float64 `json:"smallest_ratio"`
}

// FactorPower is the smallest difference between two levels of a factor, on average over the
// others.
type FactorPower struct {
	Factor   string   `json:"factor"`
	Smallest *float64 `json:"smallest_ratio,omitempty"`
}

// PowerOf returns what the tests can show of the patterns that only selects. noise is that of
// each test by its label; tests without one are left out. The comparison of two patterns is the
// one of [stats.ComparePatterns] at the level of its strictest pair (Bonferroni), with all
// patterns' residuals for degrees of freedom where variances are pooled. The comparison of two
// levels is the same one of a factor's levels, as in [stats.FindEffects], with rounds as blocks. In one
// round the combinations of the other factors' levels are the blocks.
func PowerOf(p *plan.Plan, noise map[string]float64, only plan.Selection) (out []Power) {
	patterns, pairs := p.ComparedPatterns(only), 0
	for _, pt := range patterns {
		pairs += p.PairsOf(pt)
	}
	for i := range p.Tests {
		sd, known := noise[p.Tests[i].Name]
		if !known || !(sd > 0) {
			continue
		}
		rounds := p.RoundsOf(&p.Tests[i].Value)
		w := Power{Label: p.Tests[i].Name, Noise: sd, Rounds: rounds, Patterns: pairs}
		if w.Patterns > 1 {
			w.Smallest = ratioOf(patternDifference(sd, rounds, w.Patterns))
			w.Needed = roundsNeeded(p, sd, rounds, w.Patterns)
		}
		w.Halved = halved(p, sd, w, patterns)
		for f := range p.Factors {
			if at := pairsByLevel(p, patterns, p.Factors[f].Name); len(at) > 1 && len(p.Factors) > 1 {
				fewest := slices.Min(slices.Collect(maps.Values(at)))
				w.Factors = append(w.Factors, FactorPower{p.Factors[f].Name, ratioOf(levelDifference(sd, rounds, fewest, len(at)))})
			}
		}
		out = append(out, w)
	}
	return out
}

// halved is half of the compared levels of the factor with most of them, in twice the rounds. A search
// chooses the levels of its option itself.
func halved(p *plan.Plan, noise float64, w Power, compared []*plan.Pattern) *HalvedPower {
	const fewest = 4
	var h HalvedPower
	n := 0
	for f := range p.Factors {
		name := p.Factors[f].Name
		if levels := len(pairsByLevel(p, compared, name)); name != p.Find.Option && levels > n {
			h.Factor, n = name, levels
		}
	}
	if n < fewest {
		return nil
	}
	h.Levels, h.Rounds = n/2, 2*w.Rounds
	left := w.Patterns * h.Levels / n
	if left < 2 {
		return nil
	}
	smallest := ratioOf(patternDifference(noise, h.Rounds, left))
	if smallest == nil {
		return nil
	}
	h.Smallest = *smallest
	return &h
}

// pairsByLevel returns how many pairs of hosts the patterns have by the level of a factor. A sample of
// pairs may be measured at one level, and all of them at another.
func pairsByLevel(p *plan.Plan, patterns []*plan.Pattern, factor string) map[string]int {
	pairs := map[string]int{}
	for _, pt := range patterns {
		for _, l := range pt.Levels {
			if l.Factor == factor {
				pairs[l.Value] += p.PairsOf(pt)
			}
		}
	}
	return pairs
}

// patternDifference is the smallest difference between two of the patterns, as a logarithm.
func patternDifference(noise float64, rounds, patterns int) float64 {
	comparisons := float64(patterns) * float64(patterns-1) / 2
	return stats.SmallestShown(noise*math.Sqrt(2/float64(rounds)), stats.ShownDF(patterns, rounds), 0.05/comparisons)
}

// levelDifference is the smallest difference between two of the levels, each of which as many
// patterns have.
func levelDifference(noise float64, rounds, patterns, levels int) float64 {
	blocks, of := rounds, patterns
	if rounds == 1 {
		blocks, of = patterns, 1
	}
	comparisons := float64(levels) * float64(levels-1) / 2
	return stats.SmallestShown(noise*math.Sqrt(2/float64(of)/float64(blocks)), stats.ShownDF(levels, blocks), 0.05/comparisons)
}

// roundsNeeded is the rounds that show the practical threshold.
func roundsNeeded(p *plan.Plan, noise float64, rounds, patterns int) int {
	wanted := math.Log1p(p.PracticalThreshold())
	enough := func(n int) bool { return patternDifference(noise, n, patterns) <= wanted }
	if enough(rounds) {
		return 0
	}
	const most = 1000
	n := rounds + 1 + sort.Search(max(most-rounds, 0), func(i int) bool { return enough(rounds + 1 + i) })
	if n > most {
		return -1
	}
	return n
}

func ratioOf(log float64) *float64 {
	if ratio := math.Expm1(log); !math.IsInf(ratio, 0) && ratio < 1e6 {
		return &ratio
	}
	return nil
}
