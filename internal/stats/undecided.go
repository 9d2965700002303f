package stats

import (
	"cmp"
	"slices"
)

// Against is with what the patterns of a campaign are compared.
type Against string

// What patterns are compared with: the best of them, whichever that is, as [Rank] does; the
// first one, or each other, as [CompareChoices] does.
const (
	AgainstBest  Against = "best"
	AgainstFirst Against = "first"
	AgainstAll   Against = "all"
)

// Undecided returns the comparisons, as indices of two groups, of which a look shows neither a
// difference nor that one as large as the threshold is ruled out, and how many comparisons
// there are. Groups without values are left out, and so is what they are compared with.
//
// Against the best, a difference is shown if it is among the comparisons of all pairs: which
// group is the best is seen in the same rounds. By the tests that find [PatternComparison.Best],
// 23 % of campaigns with ten equal groups would show one at some look. A difference that is only seen
// does not count. That it makes no practical difference is tested against the best only, as reports do.
func (l Looks) Undecided(groups []Group, higherIsBetter bool, threshold float64, against Against) (undecided [][2]int, compared int) {
	var entries []entry
	var of []int // indices of the entries' groups
	for i, g := range groups {
		if m := g.means(); len(present(m.values)) > 0 {
			entries = append(entries, entry{roundMeans: m, Interval: Interval{Estimate: Mean(present(m.values))}})
			of = append(of, i)
		}
	}
	behind := func(int) bool { return false }
	if against == AgainstBest {
		order := make([]int, len(entries))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int {
			if higherIsBetter {
				a, b = b, a
			}
			return cmp.Compare(entries[a].Estimate, entries[b].Estimate)
		})
		entries, of = arranged(entries, order), arranged(of, order)
		pairs := compareGroups(entries, higherIsBetter, l, 0)
		behind = func(i int) bool { p := pairs.pairOf(i, 0); return p.Shown && p.Difference > 0 }
	}
	var pairs []ChoicePair
	var named [][2]int
	for i := range entries {
		for j := range entries[:i] {
			if j == 0 || against == AgainstAll {
				pairs = append(pairs, ChoicePair{entries[i].group, entries[j].group})
				named = append(named, [2]int{i, j})
			}
		}
	}
	for n, c := range l.CompareChoices(pairs, higherIsBetter, threshold) {
		decided := c.Decision != NotShown
		if against == AgainstBest {
			decided = c.Decision == Same || behind(named[n][0])
		}
		if !decided {
			undecided = append(undecided, [2]int{of[named[n][0]], of[named[n][1]]})
		}
	}
	return undecided, len(pairs)
}

// arranged returns the elements in an order.
func arranged[T any](all []T, order []int) []T {
	out := make([]T, len(order))
	for at, i := range order {
		out[at] = all[i]
	}
	return out
}
