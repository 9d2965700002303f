package stats

import "math"

// Noise returns the standard deviation of logarithms of round means around the effects of
// patterns and rounds: how much a pattern varies from round to round, without the variation that
// all patterns share. logs is as for [ComparePatterns]; one pattern alone varies around its mean.
// It returns NaN for fewer than two rounds.
func Noise(logs [][]float64) float64 {
	if len(logs) == 1 {
		return StdDev(finites(logs[0]))
	}
	t := residualsOf(logs)
	if t.df < 1 {
		return math.NaN()
	}
	return math.Sqrt(sumSquares(t.residuals) / t.df)
}

// SmallestShown returns the smallest difference of logarithms that a two-sided t test at level
// alpha shows with a probability of 80 %, given its standard error and degrees of freedom. +Inf
// with less than one degree of freedom.
func SmallestShown(err, df, alpha float64) float64 {
	if df < 1 {
		return math.Inf(1)
	}
	low, high := 0.0, 1.0
	for powerOfT(high, df, alpha) < wantedPower {
		low, high = high, 2*high
		if high > 1e9 {
			return math.Inf(1)
		}
	}
	for high-low > 1e-6*high {
		middle := (low + high) / 2
		if powerOfT(middle, df, alpha) < wantedPower {
			low = middle
		} else {
			high = middle
		}
	}
	return high * err
}
