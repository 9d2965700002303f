package stats

import (
	"cmp"
	"math"
	"slices"
)

const (
	// moderatedPatterns and moderatedRounds are the fewest whose pairs are enough to
	// estimate how variances vary.
	moderatedPatterns = 4
	moderatedRounds   = 5
)

// PatternPair compares two patterns over the rounds that both have.
type PatternPair struct {
	A, B       int     // indices of the patterns, A below B
	Rounds     int     // that both have
	Difference float64 // mean of A minus B; NaN for no rounds
	SE, DF     float64 // standard error and degrees of freedom; NaN and 0 for fewer than two rounds
	P          float64 // two-sided; NaN for fewer than two rounds
	Adjusted   float64 // P by Holm's procedure over all pairs
	Low, High  float64 // of Difference; the intervals of all pairs hold together (Bonferroni)
}

// RankRange is the ranks that a pattern may have, 1 for the best: from 1 more than the
// patterns that are shown to be better, to those that are not shown to be worse. 0 for a
// pattern without values.
type RankRange struct{ Low, High int }

// PatternComparison is what the rounds of a campaign show about its patterns.
type PatternComparison struct {
	Pairs []PatternPair // in the order 0-1, 0-2, …, 1-2, …
	// Moderated reports whether variances are drawn towards a prior. Then PriorVariance
	// and PriorDF describe it, +Inf degrees of freedom if all variances are taken as
	// equal, and Autocorrelation, 0 to 0.9, is what the standard errors allow for.
	Moderated                               bool
	PriorVariance, PriorDF, Autocorrelation float64
	Ranks                                   []RankRange // one element a pattern
	// Best has the patterns, in ascending order, that are not shown to be worse than any
	// other: together with the best one with probability 1-alpha at least.
	Best []int
	// Letters has a string of letters a pattern: no difference is shown between patterns
	// that have a letter in common, and one is shown between any that have none. The best
	// pattern has an a, one without values none. nil if more than 52 letters are needed.
	Letters []string
}

// ComparePatterns compares all pairs of k patterns, of a figure of which more is better;
// negate it if less is better. logs has an element a pattern, logarithms of its round means
// by round, NaN for a round without values. All differences that are shown hold together
// with probability 1-alpha (Holm, "A Simple Sequentially Rejective Multiple Test
// Procedure", 1979).
//
// From four patterns and five rounds on, each pair's variance is drawn towards that of all
// pairs (moderated t: Smyth 2004), and the standard errors allow for the autocorrelation
// of neighbouring rounds, pooled over the residuals of patterns and rounds, as in
// [Guarded] but without the addition. Otherwise it is the paired t test. The best are found
// by one-sided tests against every other pattern at alpha/(k-1) (J. C. Hsu, "Constrained
// Simultaneous Confidence Intervals for Multiple Comparisons with the Best", Annals of
// Statistics 12, 1984).
//
// With values missing, a pair is compared over the rounds that both patterns have, with
// their number for its degrees of freedom; pairs with fewer than two are not tested and not
// counted. Each pair then still holds at its level, and so do all together, as long as
// values are not missing because of their size. But pairs rest on different rounds, so
// differences need not add up: a may be shown above b, b above c, and c not below a.
//
// Takes O(k²·rounds) steps, and more for the letters only as far as there are any.
func ComparePatterns(logs [][]float64, alpha float64) PatternComparison {
	k := len(logs)
	c := pairContrasts(logs)
	var out PatternComparison
	table := residualsOf(logs)
	if k >= moderatedPatterns && table.rounds >= moderatedRounds {
		r := min(max(unbiasedLagOne(table.lagOne, table.rounds), 0), 0.9)
		if p, ok := c.moderate(r, table.df); ok {
			out.Moderated, out.PriorVariance, out.PriorDF, out.Autocorrelation = true, p.variance, p.df, r
		}
	}
	if !out.Moderated {
		c.plain()
	}
	out.pairs(k, c, alpha)
	means := table.effects
	for i, row := range logs {
		if math.IsNaN(means[i]) { // no round with another pattern
			means[i] = Mean(finites(row))
		}
	}
	out.rank(means, alpha)
	out.Best = out.best(means, alpha)
	out.Letters = out.letters(means, alpha)
	return out
}

// pairContrasts returns the differences of all pairs, in the order of the result.
func pairContrasts(logs [][]float64) contrasts {
	k := len(logs)
	c := newContrasts(k * (k - 1) / 2)
	pair := 0
	for i, a := range logs {
		for _, b := range logs[i+1:] {
			c.mean[pair], c.variance[pair], c.rounds[pair] = differences(a, b)
			pair++
		}
	}
	return c
}

// differences returns the mean and the variance of a minus b over the rounds that both
// have. It allocates nothing, because 200 patterns have 19,900 pairs.
func differences(a, b []float64) (mean, variance float64, rounds int) {
	n := min(len(a), len(b))
	var first, sum, squares float64
	for i := range n {
		if d := a[i] - b[i]; finite(d) {
			if rounds == 0 {
				first = d
			}
			rounds++
			sum += d - first // as in Mean
		}
	}
	if rounds == 0 {
		return math.NaN(), math.NaN(), 0
	}
	mean = first + sum/float64(rounds)
	for i := range n {
		if d := a[i] - b[i]; finite(d) {
			squares += square(d - mean)
		}
	}
	return mean, squares / float64(rounds-1), rounds
}

func (c *PatternComparison) pairs(k int, of contrasts, alpha float64) {
	p := of.p()
	adjusted := HolmAdjusted(p)
	tests := 0
	for _, v := range p {
		if !math.IsNaN(v) {
			tests++
		}
	}
	halves := of.halves(alpha / float64(max(tests, 1)))
	c.Pairs = make([]PatternPair, 0, len(p))
	for i := range k {
		for j := i + 1; j < k; j++ {
			n := len(c.Pairs)
			c.Pairs = append(c.Pairs, PatternPair{
				A: i, B: j, Rounds: of.rounds[n],
				Difference: of.mean[n], SE: of.err[n], DF: of.df[n], P: p[n], Adjusted: adjusted[n],
				Low: of.mean[n] - halves[n], High: of.mean[n] + halves[n],
			})
		}
	}
}

// rank counts for each pattern the others that are shown to be better and worse.
func (c *PatternComparison) rank(means []float64, alpha float64) {
	patterns := len(finites(means))
	c.Ranks = make([]RankRange, len(means))
	for i, mean := range means {
		if !math.IsNaN(mean) {
			c.Ranks[i] = RankRange{1, patterns}
		}
	}
	for _, p := range c.Pairs {
		if p.Adjusted <= alpha {
			better, worse := p.order()
			c.Ranks[worse].Low++
			c.Ranks[better].High--
		}
	}
}

// order returns the pattern that is ahead, and the other.
func (p PatternPair) order() (ahead, behind int) {
	if p.Difference < 0 {
		return p.B, p.A
	}
	return p.A, p.B
}

func (c *PatternComparison) best(means []float64, alpha float64) []int {
	level := alpha / float64(max(len(finites(means))-1, 1))
	behind := make([]bool, len(means))
	for _, p := range c.Pairs {
		if p.P/2 <= level {
			_, worse := p.order()
			behind[worse] = true
		}
	}
	var out []int
	for i, mean := range means {
		if !behind[i] && !math.IsNaN(mean) {
			out = append(out, i)
		}
	}
	return out
}

// letters groups the patterns by what is shown.
func (c *PatternComparison) letters(means []float64, alpha float64) []string {
	order := make([]int, 0, len(means)) // best first
	for i, mean := range means {
		if !math.IsNaN(mean) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(means[b], means[a]) })
	place := make([]int, len(means))
	for at, i := range order {
		place[i] = at
	}
	alike := newGraph(len(order))
	for _, p := range c.Pairs {
		if !(p.Adjusted <= alpha) && !math.IsNaN(means[p.A]) && !math.IsNaN(means[p.B]) {
			alike.join(place[p.A], place[p.B])
		}
	}
	groups, ok := alike.groups(len(alphabet))
	if !ok {
		return nil
	}
	out := make([]string, len(means))
	for letter, group := range groups {
		for _, at := range group {
			out[order[at]] += alphabet[letter : letter+1]
		}
	}
	return out
}
