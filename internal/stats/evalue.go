package stats

import "math"

// eValue returns the evidence of n log ratios with this t statistic against no difference. It
// may be looked at after every round, without a maximum: that it ever reaches 1/alpha while
// there is no difference has at most probability alpha. It is the likelihood of the t
// statistic with the effect, mean over standard deviation, drawn from a normal distribution
// with standard deviation tau, over that without an effect (H. Wang and A. Ramdas,
// "Anytime-Valid t-Tests and Confidence Sequences for Gaussian Means with Unknown Variance",
// Sequential Analysis 44, 2025). 1, no evidence, for fewer than two values. 1 is a good tau.
func eValue(t, n, tau float64) float64 {
	if n < 2 {
		return 1
	}
	scale := 1 + n*tau*tau
	ratio := scale // its limit for a large t
	if square(t) < math.MaxFloat64 {
		ratio = (1 + square(t)/(n-1)) / (1 + square(t)/((n-1)*scale))
	}
	return math.Pow(ratio, n/2) / math.Sqrt(scale)
}

// sequenceReach returns half the interval of a mean that belongs to [eValue], in standard errors
// of n values: the intervals after every round hold the true mean together with the probability
// level. +Inf while there are too few values for the level (T. L. Lai, "On Confidence
// Sequences", Annals of Statistics 4, 1976).
func sequenceReach(n, tau, level float64) float64 {
	scale := 1 + n*tau*tau
	reach := math.Pow(math.Sqrt(scale)/(1-level), 2/n)
	if n < 2 || reach >= scale {
		return math.Inf(1)
	}
	return math.Sqrt((n - 1) * (reach - 1) / (1 - reach/scale))
}
