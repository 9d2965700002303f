package stats

import (
	"math"
	"slices"
)

// Untested is the reason why two groups could not be tested, or empty if they were tested.
type Untested string

// The reasons.
const (
	// OneRound: fewer than three rounds to compare pairwise, or if there are fewer than two of
	// these, in one of the groups.
	OneRound Untested = "one_round"
	// NoRatio: the mean of a round is 0.
	NoRatio Untested = "no_ratio"
	// Unpaired: looks without a maximum, and fewer than two rounds to compare pairwise.
	Unpaired Untested = "unpaired"
)

// ChoicePair is two groups to compare, A with B.
type ChoicePair struct{ A, B Group }

// ChoiceComparison is what the rounds of two groups show about the difference of the first
// from the second.
type ChoiceComparison struct {
	// Ratio is the first over the second, of the geometric means of their round means. Low
	// and High are its interval; those of all pairs hold together with 95 % (Bonferroni), and
	// one that Holm's procedure shows, and Bonferroni's does not, ends at 1. NaN where there
	// is none.
	Ratio, Low, High float64
	P, Adjusted      float64 // two-sided, and adjusted by Holm's procedure; NaN if not tested
	SameP            float64 // as by [equivalence], adjusted by Holm's procedure; NaN if not tested
	Decision         Decision
	// Seen is [Better] or [Worse] if the difference is significant and each of three to five rounds
	// has it: too few for a decision. Otherwise it is empty.
	Seen     Decision
	Untested Untested
	Rounds   int // compared pairwise; 0: unpaired
	// Enough is set if the rounds are enough for a decision.
	Enough bool
	// SignedRanks is as in [Comparison].
	SignedRanks bool
	Apart       bool // as in [Comparison]
	// Further finds the rounds that are needed to decide, of each group if they are unpaired: 0
	// if the pair is decided. It takes about a millisecond. nil if the pair was not tested.
	Further func() FurtherRounds
	// Alike reports that neighbouring rounds are alike, as by drift of one of the groups; then
	// more differences than 5 % are shown falsely. See [LagOne].
	Alike bool
}

// CompareChoices compares pairs of groups against a practical threshold such as 0.02. Each
// pair is compared as by [Compare], on logarithms: rounds of one session pairwise, others by
// Welch's test. A decision takes six rounds. It is at 95 %, with the probabilities of all pairs
// adjusted by Holm's procedure. Same takes precedence: where a difference as large as the threshold is ruled out
// as by [equivalence], a smaller one does not matter even if it is shown.
func CompareChoices(pairs []ChoicePair, higherIsBetter bool, threshold float64) []ChoiceComparison {
	return Looks{}.CompareChoices(pairs, higherIsBetter, threshold)
}

// CompareChoices is the function of that name, for pairs that are looked at so often.
func (l Looks) CompareChoices(pairs []ChoicePair, higherIsBetter bool, threshold float64) []ChoiceComparison {
	contrasts := make([]contrast, len(pairs))
	p, same, tested := make([]float64, len(pairs)), make([]float64, len(pairs)), 0
	for i, pair := range pairs {
		contrasts[i] = difference(pair.A.means(), pair.B.means()).at(l)
		if contrasts[i].untested() == "" {
			tested++
		}
	}
	alpha := bonferroni(l.Alpha(), tested)
	for i := range contrasts {
		d := &contrasts[i]
		if p[i], same[i] = math.NaN(), math.NaN(); d.untested() != "" {
			continue
		}
		d.estimate = d.forLevel(alpha)
		p[i] = l.p(d.estimate)
		if d.shows() {
			same[i] = l.sameP(d.estimate, threshold)
		}
	}
	adjusted, sameAdjusted := HolmAdjusted(p), HolmAdjusted(same)
	out := make([]ChoiceComparison, len(pairs))
	for i, d := range contrasts {
		out[i] = ChoiceComparison{P: p[i], Adjusted: adjusted[i], SameP: sameAdjusted[i], Untested: d.untested(), Rounds: d.n, Apart: d.apart, Enough: d.shows(), SignedRanks: d.ranks != nil}
		c := &out[i]
		c.Ratio, c.Low, c.High = d.ratio(alpha, c.Adjusted)
		c.Decision = c.decide(higherIsBetter, l.Alpha())
		if c.Decision != NotShown && !d.shows() {
			if d.seen() {
				c.Seen = c.Decision
			}
			c.Decision = NotShown
		}
		if c.Untested != "" {
			continue
		}
		c.Alike = d.alike()
		c.Further = func() FurtherRounds {
			if c.Decision != NotShown {
				return FurtherRounds{}
			}
			return d.further(threshold, alpha)
		}
	}
	return out
}

// decide decides by the adjusted probabilities, of which those that are NaN show nothing.
func (c *ChoiceComparison) decide(higherIsBetter bool, alpha float64) Decision {
	switch {
	case c.SameP <= alpha:
		return Same
	case !(c.Adjusted <= alpha):
		return NotShown
	case (c.Ratio > 1) == higherIsBetter:
		return Better
	}
	return Worse
}

// untested returns why there is no test of a ratio.
func (d contrast) untested() Untested {
	switch {
	case !d.logs:
		return NoRatio
	case d.refused:
		return Unpaired
	case math.IsNaN(d.err):
		return OneRound
	}
	return ""
}

// ratio returns the ratio with the interval of [contrast.holm]; NaN where there is none.
func (d contrast) ratio(alpha, adjusted float64) (ratio, low, high float64) {
	if !d.logs {
		return math.NaN(), math.NaN(), math.NaN()
	}
	c := d.holm(alpha, adjusted)
	return 1 + c.Difference, 1 + c.Low, 1 + c.High
}

// alike reports whether neighbouring rounds are alike, as by [LagOne].
func (d contrast) alike() bool {
	return slices.ContainsFunc(d.series, func(values []float64) bool {
		_, alike := LagOne(values)
		return alike
	})
}

// further returns how many more rounds show a difference of the threshold at level alpha.
// The contrast is of logarithms and can be tested.
func (d contrast) further(threshold, alpha float64) FurtherRounds {
	if d.looks.anytime {
		return furtherAnytime(d.series[0], threshold, d.looks.halves(alpha))
	}
	if len(d.series) == 1 {
		return furtherPaired(d.series[0], threshold, alpha)
	}
	return furtherUnpaired(d.series[0], d.series[1], threshold, alpha)
}

// DefaultPractical is the smallest difference that matters in practice, as a ratio, unless
// somebody says otherwise: 2 %.
const DefaultPractical = 0.02

// equivalence returns the probabilities, one-sided, that a log ratio with its standard error
// and degrees of freedom is below, and above, ±ln(1+threshold) although it is not; threshold is
// a ratio, 0.03 for 3 %. If the larger one is at most alpha, the 1-2·alpha interval is inside
// and no practical difference is shown (D. J. Schuirmann, "A Comparison of the Two One-Sided
// Tests Procedure and the Power Approach for Assessing the Equivalence of Average
// Bioavailability", Journal of Pharmacokinetics and Biopharmaceutics 15, 1987).
func equivalence(e estimate, threshold float64) (below, above float64) {
	margin := math.Log1p(threshold)
	return studentTail(studentised(e.mean+margin, e.err), e.df), studentTail(studentised(margin-e.mean, e.err), e.df)
}

// Decision is what a comparison of two patterns shows about the first.
type Decision string

// The decisions. Same means that a difference as large as the threshold is ruled out;
// NotShown that the data decide nothing.
const (
	Better   Decision = "better"
	Worse    Decision = "worse"
	Same     Decision = "same"
	NotShown Decision = "not_shown"
)
