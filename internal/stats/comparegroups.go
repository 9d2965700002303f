package stats

import "math"

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
// shown of both kinds holds together.
func compareGroups(entries []entry, higherIsBetter bool, looks Looks) groupComparisons {
	out := groupComparisons{PatternComparison: PatternComparison{looks: looks}, higherIsBetter: higherIsBetter, alone: map[int]contrast{}}
	logs := blocks(entries, higherIsBetter)
	c := pairContrasts(logs)
	out.errors(&c, residualsOf(logs), len(logs))
	order := make([]int, len(entries))
	for j := range entries {
		order[j] = j
		for i := j + 1; i < len(entries); i++ {
			if n := pairIndex(len(entries), j, i); c.rounds[n] < 2 {
				d := difference(entries[j].roundMeans, entries[i].roundMeans).at(looks)
				out.alone[n] = d
				c.set(n, d, higherIsBetter)
			}
		}
	}
	out.conclude(c, order, len(entries))
	return out
}

// set replaces an estimate.
func (c *contrasts) set(n int, d contrast, higherIsBetter bool) {
	c.mean[n], c.err[n], c.df[n], c.rounds[n] = d.mean, d.err, d.df, d.rounds
	if !higherIsBetter {
		c.mean[n] = -d.mean
	}
	if !finite(d.mean) || !finite(d.err) {
		c.err[n] = math.NaN()
	}
}

// pairIndex is the place of a pair, j below i, among those of k groups.
func pairIndex(k, j, i int) int { return j*(2*k-j-1)/2 + i - j - 1 }

// behind reports whether group i is shown to be worse than an earlier group j.
func (c groupComparisons) behind(i, j int) bool {
	p := c.Pairs[pairIndex(len(c.Ranks), j, i)]
	return p.Adjusted <= c.looks.Alpha() && p.Difference > 0
}

// pair is the comparison of group i with an earlier group j, with its interval as by
// [contrast.holm].
func (c groupComparisons) pair(i, j int) Comparison {
	n := pairIndex(len(c.Ranks), j, i)
	p := c.Pairs[n]
	d, found := c.alone[n]
	if !found {
		d = contrast{mean: p.Difference, err: p.SE, df: p.DF, rounds: p.Rounds, logs: true, looks: c.looks}
		if !c.higherIsBetter {
			d.mean = -d.mean
		}
	}
	d.mean = 0 - d.mean // of i from j, and not -0
	alpha := bonferroni(c.looks.Alpha(), c.tested)
	out := d.holm(alpha, p.Adjusted)
	out.Needed = d.needed(alpha)
	return out
}
