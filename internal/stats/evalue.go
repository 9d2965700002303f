package stats

import "math"

// EValue returns the evidence of log ratios against no difference. It may be looked at
// after every round, without a maximum: that it ever reaches 1/alpha while there is no
// difference has at most probability alpha. It is the likelihood of the t statistic with
// the effect, mean over standard deviation, drawn from a normal distribution with standard
// deviation tau, over that without an effect (H. Wang and A. Ramdas, "Anytime-Valid
// t-Tests and Confidence Sequences for Gaussian Means with Unknown Variance", Sequential
// Analysis 44, 2025). 1, no evidence, for fewer than two values. 1 is a good tau.
func EValue(logRatios []float64, tau float64) float64 {
	d := finites(logRatios)
	if len(d) < 2 {
		return 1
	}
	n := float64(len(d))
	return eValue(studentised(Mean(d), StdDev(d)/math.Sqrt(n)), n, tau)
}

// eValue is [EValue] by the t statistic of n values; 1 for fewer than two.
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

// ConfidenceSequence returns the interval of the mean log ratio that belongs to [EValue]:
// the intervals after every round hold the true mean together with the probability level.
// It is unbounded, from -Inf to +Inf, while there are too few values for the level (T. L.
// Lai, "On Confidence Sequences", Annals of Statistics 4, 1976).
func ConfidenceSequence(logRatios []float64, tau, level float64) (low, high float64) {
	d := finites(logRatios)
	n := float64(len(d))
	reach := sequenceReach(n, tau, level)
	if math.IsInf(reach, 0) {
		return math.Inf(-1), math.Inf(1)
	}
	half := reach * StdDev(d) / math.Sqrt(n)
	return Mean(d) - half, Mean(d) + half
}

// sequenceReach is half of the interval of [ConfidenceSequence] in standard errors of the
// mean of n values; +Inf where it is unbounded.
func sequenceReach(n, tau, level float64) float64 {
	scale := 1 + n*tau*tau
	reach := math.Pow(math.Sqrt(scale)/(1-level), 2/n)
	if n < 2 || reach >= scale {
		return math.Inf(1)
	}
	return math.Sqrt((n - 1) * (reach - 1) / (1 - reach/scale))
}
