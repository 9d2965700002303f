package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"
)

// Two pairs of hosts that reach 1 each share a link of 1.4: concurrently each has 0.7.
func TestIsolatedPairsAreRunOneAtATime(t *testing.T) {
	find := func(question, design string, isolated float64, rounds int, is func(LevelPair) bool) simulation {
		return simulate(t, question, fmt.Sprintf("%s, %d rounds, noise 2 %%", design, rounds), 300, func(seed uint64) bool {
			r := source(seed)
			shared := drift(r, rounds, 0.7, 0.1)
			table := factorial([]string{"contention", "pair"}, []int{2, 2}, rounds, func(at []int, round int) float64 {
				rate := []float64{isolated, 0.7}[at[0]]
				return math.Log(rate) + shared[round] + 0.02*r.NormFloat64()
			})
			return is(effects(table, EffectOptions{Threshold: 0.02}).Factors[0].Pairs[0])
		})
	}
	const shown, same = "running two pairs concurrently is shown or seen to cost something, where it costs 30 %", "no practical difference is decided between isolated and concurrent pairs, where it is 30 %"
	const serial, overlapping = "isolated pairs one at a time", "isolated pairs side by side on the shared link (not the rule)"
	differs := func(p LevelPair) bool { return p.Different || p.Seen }
	equivalent := func(p LevelPair) bool { return p.Equivalent }
	for _, rounds := range []int{3, 6} {
		find(shown, serial, 1, rounds, differs).atLeast(0.98)
		find(shown, overlapping, 0.7, rounds, differs).atMost(0.05)
	}
	find(same, serial, 1, 12, equivalent).atMost(0)
	find(same, overlapping, 0.7, 12, equivalent).atLeast(0.8)
}

func TestFiguresAndReasonsFollowTheOrder(t *testing.T) {
	const modes = "half of the patterns in two modes x 2"
	// ordered reports whether no figure is above one of an earlier pattern.
	ordered := func(ranked []Ranked, figure func(Ranked) float64) bool {
		return slices.IsSortedFunc(ranked, func(a, b Ranked) int { return -compareAbout(figure(a), figure(b)) })
	}
	for _, k := range []int{4, 20} {
		for _, rounds := range []int{3, 6} {
			simulate(t, "the figures of patterns are not in their order, or a reason is of other figures", fmt.Sprintf("%s, k %d, %d rounds, noise 2 %%", modes, k, rounds), 100, func(seed uint64) bool {
				ranked := Rank(inUnits(varied(seed, kinds[modes], k, rounds), 1), true, 0.02)
				for _, p := range ranked {
					than := slices.IndexFunc(ranked, func(o Ranked) bool { return o.Name == p.Reason.Text("than") })
					if ratio, has := p.Reason.Number("difference_ratio"); has && compareAbout(p.Estimate/ranked[than].Estimate, 1+ratio) != 0 {
						return true
					}
				}
				return !ordered(ranked, func(p Ranked) float64 { return p.Estimate })
			}).atMost(0)
		}
		simulate(t, "the figures of patterns are not in their order", fmt.Sprintf("%s, k %d, 6 rounds, noise 2 %%, figures are means of rounds (not the rule)", modes, k), 100, func(seed uint64) bool {
			groups := inUnits(varied(seed, kinds[modes], k, 6), 1)
			return !ordered(Rank(groups, true, 0.02), func(p Ranked) float64 {
				return Mean(groups[slices.IndexFunc(groups, func(g Group) bool { return g.Name == p.Name })].means().values)
			})
		}).atLeast(0.1)
	}
}

// compareAbout compares two figures, of which those that differ by rounding alone are equal.
func compareAbout(a, b float64) int {
	if math.Abs(a-b) <= 1e-9*math.Abs(b) {
		return 0
	}
	return cmp.Compare(a, b)
}
