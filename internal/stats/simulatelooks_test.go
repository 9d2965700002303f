package stats

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"soku/test/tier"
)

// untilDecided adds rounds to a campaign of two patterns with these log ratios, from
// [FirstLook] on, until a look decides or there are no more. It returns the last decision and
// how many rounds it took.
func untilDecided(looks Looks, logRatios []float64, threshold float64) (Decision, int) {
	groups := inUnits([][]float64{logRatios, make([]float64, len(logRatios))}, 1)
	for n := FirstLook; ; n++ {
		a, b := groups[0], groups[1]
		a.Rounds, b.Rounds = a.Rounds[:n], b.Rounds[:n]
		d := looks.CompareChoices([]ChoicePair{{a, b}}, true, threshold)[0].Decision
		if d != NotShown || n == len(logRatios) {
			return d, n
		}
	}
}

func TestCampaignsUntilDecidedDecideRightly(t *testing.T) {
	tier.SpendsSeconds(t)
	const sd = 0.02 * math.Sqrt2 // of log ratios at a noise of 2 %
	for _, c := range []struct {
		most      int // of the looks; 0: by e-values, here in at most 60 rounds
		rule      string
		power     float64 // at least
		within    int
		inThose   float64 // least share of the campaigns with a difference that are decided within this number of rounds
		falseSame float64
	}{
		{12, "until decided, at most 12 rounds, noise 2 %, threshold 2 %", 0.7, 10, 0.5, 0.05},
		{20, "until decided, at most 20 rounds, noise 2 %, threshold 2 %", 0.9, 12, 0.6, 0.05},
		{0, "until decided by e-values, in 60 rounds, noise 2 %, threshold 2 %", 0.95, 20, 0.5, 0.05},
	} {
		most := c.most
		if most == 0 {
			most = 60
		}
		happens := func(question string, mean, threshold float64, reduced int, what func(Decision, int) bool) simulation {
			return simulate(t, question, c.rule, reduced, func(seed uint64) bool {
				return what(untilDecided(LooksUpTo(c.most), normals(source(seed), most, mean, sd), threshold))
			})
		}
		happens("a difference between two equal patterns is decided", 0, 0.02, 400, func(d Decision, _ int) bool { return d == Better || d == Worse }).atMost(0.05)
		happens("no practical difference is decided at a difference of 2 %", math.Log1p(0.02), 0.02, 400, func(d Decision, _ int) bool { return d == Same }).atMost(c.falseSame)
		happens("a difference of 3 % between two patterns is decided", math.Log1p(0.03), 0.02, 400, func(d Decision, _ int) bool { return d == Better }).atLeast(c.power)
		happens(fmt.Sprintf("a campaign with a difference of 3 %% ends within %d rounds", c.within), math.Log1p(0.03), 0.02, 400, func(d Decision, n int) bool {
			return d != NotShown && n <= c.within
		}).atLeast(c.inThose)
	}
}

func TestTenEqualPatternsAreSeldomDecidedToDiffer(t *testing.T) {
	tier.SpendsSeconds(t)
	looks, equal := LooksUpTo(20), make([]float64, 10)
	atALook := func(what func(PatternComparison) bool) func(uint64) bool {
		return func(seed uint64) bool {
			logs := table(seed, equal, 20, 0.02)
			for n := FirstLook; n <= 20; n++ {
				var until [][]float64
				for _, row := range logs {
					until = append(until, row[:n])
				}
				if what(ComparePatterns(until, looks.Alpha())) {
					return true
				}
			}
			return false
		}
	}
	const design = "at most 20 rounds, noise 2 %"
	simulate(t, "a difference between any two of 10 equal patterns is shown at a look after any round from 6 on", design, 400, atALook(func(c PatternComparison) bool {
		return slices.ContainsFunc(c.Pairs, func(p PatternPair) bool { return p.Adjusted <= looks.Alpha() })
	})).atMost(0.05)
	simulate(t, "any of 10 equal patterns is not among the best at a look after any round from 6 on", design+" (not the rule)", 100, atALook(func(c PatternComparison) bool {
		return len(c.Best) < len(equal)
	})).atLeast(0.2)
}
