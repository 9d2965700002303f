package stats

import "math"

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
