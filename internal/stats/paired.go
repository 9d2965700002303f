package stats

import "math"

// LogRatios returns, in their order, the differences a minus b of the rounds in which both
// have a finite value. a and b are logarithms of the round means of two patterns, one
// element a round, NaN where a pattern has none.
//
// Rounds that only one of the two has are left out. What is computed of the others holds
// as long as values are not missing because of their size: if trials fail when the path is
// slow, the rounds that are left flatter the pattern that fails more.
func LogRatios(a, b []float64) []float64 {
	var out []float64
	for i := range min(len(a), len(b)) {
		if d := a[i] - b[i]; finite(d) {
			out = append(out, d)
		}
	}
	return out
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func finites(values []float64) []float64 {
	var out []float64
	for _, v := range values {
		if finite(v) {
			out = append(out, v)
		}
	}
	return out
}

// StudentT is Student's t test of whether a mean is 0, with the interval of the mean.
type StudentT struct {
	Rounds    int
	Mean, SD  float64 // SD is that of the values, NaN for fewer than two
	Low, High float64 // of Mean; NaN for fewer than two values
	P         float64 // two-sided; 1 for fewer than two values
}

// PairedT tests whether two patterns differ, from the log ratios of their round means, at
// a confidence level such as 0.95 (Student, "The Probable Error of a Mean", Biometrika 6,
// 1908). Lows and highs are logarithms, too: 100·expm1 makes percent of them. The interval
// is not widened for autocorrelation: drift that both patterns share cancels out in the
// ratios if the order within rounds is random. Drift of one pattern alone does not, and
// then more than 5 % of the differences found are false; see [LagOne].
//
// Log ratios that are all alike have an interval without width, and P is 0 or 1.
func PairedT(logRatios []float64, level float64) StudentT {
	d := finites(logRatios)
	out := StudentT{Rounds: len(d), Mean: Mean(d), SD: StdDev(d), Low: math.NaN(), High: math.NaN(), P: 1}
	if len(d) < 2 {
		return out
	}
	n := float64(len(d))
	err := out.SD / math.Sqrt(n)
	half := studentT(1-level, n-1) * err
	out.Low, out.High, out.P = out.Mean-half, out.Mean+half, studentP(studentised(out.Mean, err), n-1)
	return out
}

// LagOne returns the lag-1 autocorrelation of a series: the sum of the products of
// neighbouring deviations from the mean over that of their squares. alike reports whether
// it is above 2/√n, so that chance hardly explains it and neighbouring rounds are alike:
// intervals that take rounds as independent are then too narrow. Values that are not
// finite are left out, and the values on both sides of a gap count as neighbours. r is 0 if all
// values are equal.
func LagOne(series []float64) (r float64, alike bool) {
	x := finites(series)
	mean, squares, products := Mean(x), 0.0, 0.0
	for i, v := range x {
		squares += square(v - mean)
		if i > 0 {
			products += (v - mean) * (x[i-1] - mean)
		}
	}
	if squares == 0 {
		return 0, false
	}
	r = products / squares
	return r, r > 2/math.Sqrt(float64(len(x)))
}
