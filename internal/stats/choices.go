package stats

import "math"

// Untested is why two groups could not be tested; empty if they were.
type Untested string

// The reasons.
const (
	// OneRound: fewer than two rounds to compare pairwise, and one of the groups has fewer
	// than two rounds in all.
	OneRound Untested = "one_round"
	// NoRatio: the mean of a round is 0.
	NoRatio Untested = "no_ratio"
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
	SameP            float64 // of [Equivalent], adjusted by Holm's procedure; NaN if not tested
	Decision         Decision
	Untested         Untested
	Rounds           int  // compared pairwise; 0: unpaired
	Apart            bool // as in [Comparison]
	// Further is the rounds that are needed to decide, of each group if they are unpaired: 0
	// if the pair is decided. nil if it was not tested.
	Further *FurtherRounds
	Alike   bool // neighbouring rounds are alike, as in [PairComparison]
}

// CompareChoices compares pairs of groups against a practical threshold such as 0.02. Each
// pair is compared as by [Compare], on logarithms: rounds of one session pairwise, others by
// Welch's test. Decisions are those of [Decide] with the probabilities of all pairs adjusted
// by Holm's procedure; of one pair they are the same.
func CompareChoices(pairs []ChoicePair, higherIsBetter bool, threshold float64) []ChoiceComparison {
	const alpha = 1 - confidence
	contrasts := make([]contrast, len(pairs))
	p, same := make([]float64, len(pairs)), make([]float64, len(pairs))
	out := make([]ChoiceComparison, len(pairs))
	tests := 0
	for i, pair := range pairs {
		d := difference(pair.A.means(), pair.B.means())
		contrasts[i], out[i].Untested = d, d.untested()
		p[i], same[i] = math.NaN(), math.NaN()
		if out[i].Untested == "" {
			p[i], same[i] = d.p(), d.equivalence(threshold).P
			tests++
		}
	}
	adjusted, sameAdjusted := HolmAdjusted(p), HolmAdjusted(same)
	level := alpha / float64(max(tests, 1))
	for i, d := range contrasts {
		c := &out[i]
		c.P, c.Adjusted, c.SameP = p[i], adjusted[i], sameAdjusted[i]
		c.Rounds, c.Apart, c.Decision = d.rounds, d.apart, NotShown
		c.Ratio, c.Low, c.High = d.ratio(1 - level)
		if c.Untested != "" {
			continue
		}
		c.decide(higherIsBetter, alpha)
		further, alike := pairs[i].outlook(threshold, level)
		if c.Decision != NotShown {
			further = FurtherRounds{}
		}
		c.Further, c.Alike = &further, alike
	}
	return out
}

func (c *ChoiceComparison) decide(higherIsBetter bool, alpha float64) {
	shown := c.Adjusted <= alpha
	switch {
	case shown && c.Ratio > 1:
		c.Low = max(c.Low, 1)
	case shown:
		c.High = min(c.High, 1)
	}
	switch {
	case c.SameP <= alpha:
		c.Decision = Same
	case shown && (c.Ratio > 1) == higherIsBetter:
		c.Decision = Better
	case shown:
		c.Decision = Worse
	}
}

// untested returns why there is no test of a ratio.
func (d contrast) untested() Untested {
	switch {
	case !d.logs:
		return NoRatio
	case math.IsNaN(d.err):
		return OneRound
	}
	return ""
}

// ratio returns the ratio with its interval at a level; NaN where there is none.
func (d contrast) ratio(level float64) (ratio, low, high float64) {
	if !d.logs {
		return math.NaN(), math.NaN(), math.NaN()
	}
	c := d.at(level)
	return 1 + c.Difference, 1 + c.Low, 1 + c.High
}

// p returns the two-sided probability of a difference of at least this size between equal
// groups. The contrast can be tested.
func (d contrast) p() float64 { return studentP(studentised(d.mean, d.err), d.df) }

// equivalence is [Equivalent] of a contrast of logarithms.
func (d contrast) equivalence(threshold float64) Equivalence {
	return equivalence(d.mean, d.err, d.df, threshold)
}

// outlook returns how many more rounds a pair needs to show a difference of the threshold
// at level alpha, and whether its rounds are alike. The pair can be tested.
func (p ChoicePair) outlook(threshold, alpha float64) (further FurtherRounds, alike bool) {
	a, b := p.A.means().logs, p.B.means().logs
	if d := pairwise(p.A, p.B, a, b); len(d) >= 2 {
		_, alike = LagOne(d)
		return furtherPaired(d, threshold, alpha), alike
	}
	a, b = present(a), present(b)
	_, alikeA := LagOne(a)
	_, alikeB := LagOne(b)
	return furtherUnpaired(a, b, threshold, alpha), alikeA || alikeB
}
