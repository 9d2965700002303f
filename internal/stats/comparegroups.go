package stats

import (
	"math"
	"slices"
)

// groupComparisons are the comparisons of all pairs of groups, which are in the order of
// their estimates, best first. Its differences are how far a group is ahead.
type groupComparisons struct {
	PatternComparison
	higherIsBetter bool
	alone          map[int]contrast // pairs that are compared as by Compare, by pairIndex
}

// compareGroups compares all pairs as [ComparePatterns] does, over the rounds that one
// session measured of both, on logarithms. A pair that has fewer than two of those is
// compared as by [Compare], and so is one with a value that is not positive. All that is
// shown of both kinds holds together. Differences below the practical threshold, a ratio, make no ranks,
// letters or best groups.
func compareGroups(entries []entry, higherIsBetter bool, looks Looks, practical float64) groupComparisons {
	out := groupComparisons{PatternComparison: PatternComparison{looks: looks, margin: math.Log1p(practical)}, higherIsBetter: higherIsBetter, alone: map[int]contrast{}}
	logs := blocks(entries, higherIsBetter)
	c := pairContrasts(logs)
	table := residualsOf(logs)
	out.errors(&c, logs, table, table.autocorrelation())
	order := make([]int, len(entries))
	for j := range entries {
		order[j] = j
		for i := j + 1; i < len(entries); i++ {
			if n := pairIndex(len(entries), j, i); c.all[n].n < 2 {
				d := difference(entries[j].roundMeans, entries[i].roundMeans).at(looks)
				out.alone[n] = d
				c.set(n, d.estimate, higherIsBetter)
			}
		}
	}
	out.conclude(c, order, len(entries))
	return out
}

// set replaces an estimate.
func (c *contrasts) set(n int, e estimate, higherIsBetter bool) {
	if !higherIsBetter {
		e = e.negated()
	}
	if !finite(e.mean) || !finite(e.err) {
		e.err = math.NaN()
	}
	c.all[n] = e
}

// pairIndex is the place of a pair, j below i, among those of k groups.
func pairIndex(k, j, i int) int { return j*(2*k-j-1)/2 + i - j - 1 }

// behind reports whether group i is shown, or seen, to be worse than an earlier group j by what
// matters in practice.
func (c groupComparisons) behind(i, j int) bool {
	p := c.pairOf(i, j)
	return c.differ(p) && p.Difference > 0
}

// betterFirst returns the groups in their order, but each after those that are shown, or seen, to be
// better, and one of the best first. In a circle, which missing rounds can make, the order stays.
func (c groupComparisons) betterFirst() []int {
	var order, left []int
	for i := range c.Ranks {
		left = append(left, i)
	}
	ahead := func(i, j int) bool {
		p := c.pairOf(max(i, j), min(i, j))
		best, _ := p.order()
		return c.differ(p) && best == i
	}
	for len(left) > 0 {
		at := slices.IndexFunc(left, func(j int) bool {
			return !slices.ContainsFunc(left, func(i int) bool { return i != j && ahead(i, j) })
		})
		if len(order) == 0 && len(c.Best) > 0 {
			at = c.Best[0]
		}
		at = max(at, 0)
		order, left = append(order, left[at]), slices.Delete(left, at, at+1)
	}
	return order
}

// soleBest reports whether a group is alone among the best, as only the first can be.
func (c groupComparisons) soleBest(i int) bool { return i == 0 && slices.Equal(c.Best, []int{0}) }

// pairOf is group i and an earlier group j.
func (c groupComparisons) pairOf(i, j int) PatternPair { return c.Pairs[pairIndex(len(c.Ranks), j, i)] }

// pair is the comparison of group i with an earlier group j, with its interval as by
// [contrast.holm].
func (c groupComparisons) pair(i, j int) Comparison {
	d, p, alpha := c.contrast(i, j)
	out := d.holm(alpha, p.Adjusted)
	if c.soleBest(j) { // constrained, as by Hsu 1984
		out.endAtZero()
	}
	out.Needed, out.Seen = d.needed(alpha), p.Seen
	return out
}

// byItself is the same with the interval of this pair alone.
func (c groupComparisons) byItself(i, j int) Comparison {
	d, p, alpha := c.contrast(i, j)
	out := d.interval(c.looks.Alpha())
	out.Needed, out.Seen = d.needed(alpha), p.Seen
	return out
}

// contrast is that of group i from an earlier group j, and the level at which all pairs hold together.
func (c groupComparisons) contrast(i, j int) (contrast, PatternPair, float64) {
	n := pairIndex(len(c.Ranks), j, i)
	p := c.Pairs[n]
	d, found := c.alone[n]
	if !found {
		d = contrast{logs: true, looks: c.looks}
	}
	if d.estimate = p.estimate; c.higherIsBetter {
		d.estimate = d.negated() // of i from j
		d.mean += 0              // not -0
	}
	return d, p, bonferroni(c.looks.Alpha(), c.tested)
}
