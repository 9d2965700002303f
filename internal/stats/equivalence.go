package stats

import "math"

// DefaultPractical is the smallest difference that matters in practice, as a ratio, unless
// somebody says otherwise: 2 %.
const DefaultPractical = 0.02

// Equivalence is the result of two one-sided tests of whether a difference is smaller than
// what matters in practice.
type Equivalence struct {
	PLower, PUpper float64 // one-sided, that the log ratio is below, or above, what is allowed
	P              float64 // the larger of them
	Shown          bool    // P is at most alpha: the 1-2·alpha interval is inside what is allowed
}

// Equivalent tests whether the log ratio of two patterns is within ±ln(1+threshold);
// threshold is a ratio, 0.03 for 3 %, and alpha the probability to say so falsely, such as
// 0.05 (D. J. Schuirmann, "A Comparison of the Two One-Sided Tests Procedure and the Power
// Approach for Assessing the Equivalence of Average Bioavailability", Journal of
// Pharmacokinetics and Biopharmaceutics 15, 1987). Not shown for fewer than two values.
func Equivalent(logRatios []float64, threshold, alpha float64) Equivalence {
	d := finites(logRatios)
	if len(d) < 2 {
		return Equivalence{PLower: 1, PUpper: 1, P: 1}
	}
	n := float64(len(d))
	out := equivalence(Mean(d), StdDev(d)/math.Sqrt(n), n-1, threshold)
	out.Shown = out.P <= alpha
	return out
}

// equivalence tests a log ratio with its standard error and degrees of freedom.
func equivalence(mean, err, df, threshold float64) Equivalence {
	margin := math.Log1p(threshold)
	out := Equivalence{
		PLower: studentTail(studentised(mean+margin, err), df),
		PUpper: studentTail(studentised(margin-mean, err), df),
	}
	out.P = max(out.PLower, out.PUpper)
	return out
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
