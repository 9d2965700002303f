package stats

import (
	"cmp"
	"math"
	"slices"
)

const (
	// moderatedPatterns and moderatedRounds are the fewest whose pairs are enough to
	// estimate how variances vary; with manyPatterns or more, one round less is.
	moderatedPatterns = 4
	moderatedRounds   = 6
	manyPatterns      = 10
)

// PatternPair compares two patterns over the rounds that both have.
type PatternPair struct {
	A, B       int     // indices of the patterns, A below B
	Rounds     int     // that both have
	Difference float64 // mean of A minus B; NaN for no rounds
	SE, DF     float64 // standard error and degrees of freedom; NaN and 0 if it is not tested
	P          float64 // two-sided; NaN if it is not tested
	Adjusted   float64 // P by Holm's procedure over all pairs
	Low, High  float64 // of Difference; the intervals of all pairs hold together (Bonferroni)
	// Shown reports whether the difference is significant and rests on six rounds, or on the
	// variance of all pairs. Seen reports whether it is significant in fewer rounds, each of which
	// has it: of two or three patterns in three to five rounds.
	Shown, Seen bool

	estimate estimate
}

// Differ reports whether the difference is shown or seen.
func (p PatternPair) Differ() bool { return p.Shown || p.Seen }

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
	Moderated bool
	// Pooled reports whether variances are at least that of the whole table.
	Pooled                                  bool
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
	margin float64 // below which a difference, as a logarithm, does not matter
	tested int     // pairs
}

// ComparePatterns compares all pairs of k patterns, of a figure of which more is better;
// negate it if less is better. logs has an element a pattern, logarithms of its round means
// by round, NaN for a round without values. All differences that are shown hold together
// with probability 1-alpha (Holm, "A Simple Sequentially Rejective Multiple Test
// Procedure", 1979).
//
// From four patterns that share rounds and six rounds on, each pair's variance is drawn
// towards that of all pairs (moderated t: Smyth 2004), and the standard errors allow for
// the autocorrelation of neighbouring rounds, pooled over the residuals of patterns and
// rounds, as in [AutocorrelationAdjusted] but without the addition. In three to five rounds
// the variance of a pair is at least that of all (see pool). Two rounds are not tested. Otherwise
// pairs are compared as by [Compare]. The best are found by one-sided tests against every other pattern at alpha/(k-1) (J. C. Hsu, "Constrained
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
	out.errors(&c, logs, table, table.autocorrelation())
	means := table.effects
	for i, row := range logs {
		if math.IsNaN(means[i]) { // no round with another pattern
			means[i] = Mean(finites(row))
		}
	}
	out.conclude(c, bestFirst(means), len(logs))
	return out
}

// errors fills in the standard errors of all pairs of rows. r is the autocorrelation of neighbouring
// columns: 0 for columns in no order of time.
func (c *PatternComparison) errors(of *contrasts, rows [][]float64, table twoWay, r float64) {
	switch most, patterns := of.together(len(rows)); {
	case c.looks.anytime || patterns < moderatedPatterns:
	case most < testedRounds:
		of.untested()
		return
	case most >= moderatedRounds || most == moderatedRounds-1 && patterns >= manyPatterns:
		least := 0.0
		if most < minAdjustedRounds {
			least = table.pairVariance()
		}
		if p, ok := of.moderate(r, table.df, least); ok {
			c.Moderated, c.PriorVariance, c.PriorDF, c.Autocorrelation = true, p.variance, p.df, r
			return
		}
	case table.df >= 1:
		of.pool(table, most)
		c.Pooled = true
		return
	}
	of.plain(rows, c.looks)
}

// ShownDF returns the degrees of freedom with which a number of rounds shows a difference between two
// of a number of patterns that vary alike, or 0 if it shows none.
func ShownDF(patterns, rounds int) float64 {
	n, all := float64(rounds-1), float64(patterns-1)*float64(rounds-1)
	switch {
	case patterns < moderatedPatterns && rounds < shownRounds || rounds < testedRounds:
		return 0
	case patterns < moderatedPatterns:
		return n
	case rounds >= moderatedRounds || rounds == moderatedRounds-1 && patterns >= manyPatterns:
		return all
	}
	return min(all, 2*n+2)
}

// together returns the most rounds that any two of k patterns share, and with how many others, itself
// included, a pattern shares two rounds at most.
func (c *contrasts) together(k int) (rounds, patterns int) {
	with, pair := make([]int, k), 0
	for i := range k {
		with[i]++
		for j := i + 1; j < k; j++ {
			if c.all[pair].n >= 2 {
				with[i]++
				with[j]++
			}
			rounds = max(rounds, c.all[pair].n)
			pair++
		}
	}
	return rounds, slices.Max(append(with, 0))
}

// untested leaves no pair with a test.
func (c *contrasts) untested() {
	for i := range c.all {
		c.all[i].err = math.NaN()
	}
}

// conclude finds what all pairs of k patterns show together. order has those with values,
// best first.
func (c *PatternComparison) conclude(of contrasts, order []int, k int) {
	alpha := c.looks.Alpha()
	c.pairs(k, of, alpha)
	c.rank(order, k)
	c.findBest(order, alpha)
	c.Letters = c.letters(order, k)
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
			e := &c.all[pair]
			e.mean, c.variance[pair], e.n = differences(a, b)
			e.fewest = e.n
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
	c.tested = len(present(of.each(func(estimate) float64 { return 0 })))
	level := bonferroni(alpha, c.tested)
	for i, e := range of.all {
		of.all[i] = e.forLevel(level)
	}
	p := of.each(c.looks.p)
	adjusted := HolmAdjusted(p)
	interval := c.looks.intervals(level)
	c.Pairs = make([]PatternPair, 0, len(p))
	for i := range k {
		for j := i + 1; j < k; j++ {
			n := len(c.Pairs)
			e := of.all[n]
			pair := PatternPair{A: i, B: j, Rounds: e.n, Difference: e.value(), SE: e.err, DF: e.df, P: p[n], Adjusted: adjusted[n], Low: math.NaN(), High: math.NaN(), estimate: e}
			if significant := adjusted[n] <= alpha; !math.IsNaN(e.err) {
				pair.Low, pair.High = interval(e)
				pair.Shown, pair.Seen = significant && e.shows(), significant && e.seen()
			} else {
				pair.DF = 0
			}
			c.Pairs = append(c.Pairs, pair)
		}
	}
}

// matters reports whether a difference is as large as the margin, and differ whether such a difference
// is shown or seen.
func (c *PatternComparison) matters(p PatternPair) bool { return math.Abs(p.Difference) >= c.margin }
func (c *PatternComparison) differ(p PatternPair) bool  { return p.Differ() && c.matters(p) }

// rank counts for each pattern the others that are shown to be better and worse.
func (c *PatternComparison) rank(order []int, k int) {
	c.Ranks = make([]RankRange, k)
	for _, i := range order {
		c.Ranks[i] = RankRange{1, len(order)}
	}
	for _, p := range c.Pairs {
		if c.differ(p) {
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
	// Of two patterns either could be the best: their test is two-sided.
	level := bonferroni(alpha, max(len(order)-1, 2))
	behind := map[int]bool{}
	for _, p := range c.Pairs {
		if p.oneSided(c.looks) <= level && c.matters(p) && (p.estimate.shows() || p.estimate.seen()) {
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
func (c *PatternComparison) letters(order []int, k int) []string {
	place := make([]int, k)
	for i := range place {
		place[i] = -1 // has no values
	}
	for at, i := range order {
		place[i] = at
	}
	alike := newGraph(len(order))
	for _, p := range c.Pairs {
		if !c.differ(p) && place[p.A] >= 0 && place[p.B] >= 0 {
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
