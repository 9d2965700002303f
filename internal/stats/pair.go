package stats

// exactRounds is the fewest rounds in which an exact test can show a difference at 95 %.
const exactRounds = 6

// PairComparison is all that the rounds of two patterns show about their difference, the
// first over the second, at 95 %.
type PairComparison struct {
	StudentT
	Equivalence Equivalence
	Decision    Decision
	// SignFlip and SignedRank assume less than Student's t, and say where it depends on an
	// outlier. nil: not available, for fewer than six rounds or too many.
	SignFlip   *Exact
	SignedRank *SignedRank
	// Further is the rounds that are still needed to show a difference of the threshold;
	// nil for fewer than two rounds.
	Further *FurtherRounds
	// LagOne is the autocorrelation of the log ratios. Alike reports that neighbouring
	// rounds are alike, as by drift of one of the patterns; then more differences than 5 %
	// are shown falsely.
	LagOne float64
	Alike  bool
}

// ComparePair compares two patterns by the log ratios of their round means, of a figure of
// which more is better, against a practical threshold such as 0.03; see [LogRatios],
// [PairedT] and [Decide].
func ComparePair(logRatios []float64, threshold float64) PairComparison {
	d := finites(logRatios)
	out := PairComparison{
		StudentT:    PairedT(d, confidence),
		Equivalence: Equivalent(d, threshold, 1-confidence),
		Decision:    Decide(d, threshold),
	}
	out.LagOne, out.Alike = LagOne(d)
	if further, ok := Further(d, threshold); ok {
		out.Further = &further
	}
	if len(d) < exactRounds {
		return out
	}
	if exact, ok := SignFlip(d, confidence); ok {
		out.SignFlip = &exact
	}
	if ranks, ok := HodgesLehmann(d, confidence); ok {
		out.SignedRank = &ranks
	}
	return out
}
