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

	looks  Looks
	tested int // pairs
}

// ComparePatterns compares all pairs of k patterns, of a figure of which more is better;
// negate it if less is better. logs has an element a pattern, logarithms of its round means
// by round, NaN for a round without values. All differences that are shown hold together
// with probability 1-alpha (Holm, "A Simple Sequentially Rejective Multiple Test
// Procedure", 1979).
//
// From four patterns that share rounds and five rounds on, each pair's variance is drawn
// towards that of all pairs (moderated t: Smyth 2004), and the standard errors allow for
// the autocorrelation of neighbouring rounds, pooled over the residuals of patterns and
// rounds, as in [AutocorrelationAdjusted] but without the addition. Otherwise it is the
// paired t test. The best are found by one-sided tests against every other pattern at alpha/(k-1) (J. C. Hsu, "Constrained
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
	c := pairContrasts(logs)
	table := residualsOf(logs)
	out := PatternComparison{looks: Looks{level: alpha}}
	out.errors(&c, table, len(logs))
	means := table.effects
	for i, row := range logs {
		if math.IsNaN(means[i]) { // no round with another pattern
			means[i] = Mean(finites(row))
		}
	}
	out.conclude(c, bestFirst(means), len(logs))
	return out
}

// errors fills in the standard errors of all pairs of k patterns.
func (c *PatternComparison) errors(of *contrasts, table twoWay, k int) {
	if of.enough(k) && !c.looks.anytime {
		r := limited(unbiasedLagOne(table.lagOne, table.rounds))
		if p, ok := of.moderate(r, table.df); ok {
			c.Moderated, c.PriorVariance, c.PriorDF, c.Autocorrelation = true, p.variance, p.df, r
			return
		}
	}
	of.plain()
}

// enough reports whether the pairs of k patterns can show how variances vary: one pattern
// shares rounds with three others at least, and some pair has five rounds.
func (c *contrasts) enough(k int) bool {
	together, pair, most := make([]int, k), 0, 0
	for i := range k {
		together[i]++ // itself
		for j := i + 1; j < k; j++ {
			if c.rounds[pair] >= 2 {
				together[i]++
				together[j]++
			}
			most = max(most, c.rounds[pair])
			pair++
		}
	}
	return most >= moderatedRounds && slices.Max(together) >= moderatedPatterns
}

// conclude finds what all pairs of k patterns show together. order has those with values,
// best first.
func (c *PatternComparison) conclude(of contrasts, order []int, k int) {
	alpha := c.looks.Alpha()
	c.pairs(k, of, alpha)
	c.rank(order, k, alpha)
	c.findBest(order, alpha)
	c.Letters = c.letters(order, k, alpha)
}

// bestFirst returns the patterns that have a mean, in the order of their means.
func bestFirst(means []float64) []int {
	order := make([]int, 0, len(means))
	for i, mean := range means {
		if !math.IsNaN(mean) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(means[b], means[a]) })
	return order
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
	p := of.each(c.looks.p)
	adjusted := HolmAdjusted(p)
	c.tested = len(present(p))
	halves := of.each(c.looks.halves(bonferroni(alpha, c.tested)))
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
func (c *PatternComparison) rank(order []int, k int, alpha float64) {
	c.Ranks = make([]RankRange, k)
	for _, i := range order {
		c.Ranks[i] = RankRange{1, len(order)}
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

// oneSided is the probability of a difference in the direction that was seen.
func (p PatternPair) oneSided(l Looks) float64 {
	if l.anytime {
		return p.P // an e-value has no sides
	}
	return p.P / 2
}

func (c *PatternComparison) findBest(order []int, alpha float64) {
	level := bonferroni(alpha, len(order)-1)
	behind := map[int]bool{}
	for _, p := range c.Pairs {
		if p.oneSided(c.looks) <= level {
			_, worse := p.order()
			behind[worse] = true
		}
	}
	for _, i := range slices.Sorted(slices.Values(order)) {
		if !behind[i] {
			c.Best = append(c.Best, i)
		}
	}
}

// letters groups the patterns by what is shown.
func (c *PatternComparison) letters(order []int, k int, alpha float64) []string {
	place := make([]int, k)
	for i := range place {
		place[i] = -1 // has no values
	}
	for at, i := range order {
		place[i] = at
	}
	alike := newGraph(len(order))
	for _, p := range c.Pairs {
		if !(p.Adjusted <= alpha) && place[p.A] >= 0 && place[p.B] >= 0 {
			alike.join(place[p.A], place[p.B])
		}
	}
	groups, ok := alike.groups(len(alphabet))
	if !ok {
		return nil
	}
	out := make([]string, k)
	for letter, group := range groups {
		for _, at := range group {
			out[order[at]] += alphabet[letter : letter+1]
		}
	}
	return out
}
