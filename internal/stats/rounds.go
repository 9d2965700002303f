package stats

import (
	"math"
	"sort"
)

const (
	// mostRounds is the most rounds that a plan is made for.
	mostRounds = 1000
	// wantedPower is the probability with which planned rounds show a difference.
	wantedPower = 0.8
)

// RoundsForPower returns the fewest rounds in which a two-sided paired t test at level
// alpha shows a difference with a probability of at least power. The difference and the
// standard deviation of its values a round are in one unit, such as log ratios. 0 for more
// than 1000 rounds. Power is that of the noncentral t distribution (J. Cohen, "Statistical
// Power Analysis for the Behavioral Sciences", 1988).
func RoundsForPower(difference, sd, power, alpha float64) int {
	if sd == 0 && difference != 0 {
		return 2
	}
	effect := math.Abs(difference) / sd
	return fewestRounds(func(n float64) bool { return powerOf(effect, n, alpha) >= power })
}

// fewestRounds returns the smallest number from 2 to 1000 that is enough, 0 if none is,
// where all numbers above one that is enough are enough.
func fewestRounds(enough func(n float64) bool) int {
	n := 2 + sort.Search(mostRounds-1, func(i int) bool { return enough(float64(i + 2)) })
	if n > mostRounds {
		return 0
	}
	return n
}

// FurtherRounds is how many rounds a comparison needs beyond those that it has: 0 if it has
// enough, -1 if it needs more than 1000 in all.
type FurtherRounds struct {
	// Likely assumes the standard deviation that was seen. Least and Most assume its lower
	// and upper limit; the true standard deviation is outside each limit with 20 %
	// probability: few rounds say little about the spread, and so about what is needed.
	Least, Likely, Most int
}

// furtherPaired returns how many more rounds show a difference of the threshold, a ratio such as
// 0.03, at level alpha with a probability of 80 %, given the spread of two or more finite log
// ratios. The limits of the standard deviation are those of the chi-squared distribution of the
// variance.
func furtherPaired(d []float64, threshold, alpha float64) FurtherRounds {
	sd := StdDev(d)
	return furtherRounds(float64(len(d)-1), func(factor float64) int {
		n := RoundsForPower(math.Log1p(threshold), sd*factor, wantedPower, alpha)
		if n == 0 {
			return -1
		}
		return max(max(n, shownRounds)-len(d), 0)
	})
}

// furtherAnytime returns how many more rounds show a difference of the threshold by an interval
// that may be looked at after every round, of which half has half the width.
func furtherAnytime(d []float64, threshold float64, half func(estimate) float64) FurtherRounds {
	const beyond = 0.8416 // standard deviations of a normal distribution that 80 % are below
	sd := StdDev(d)
	return furtherRounds(float64(len(d)-1), func(factor float64) int {
		n := fewestRounds(func(n float64) bool {
			e := estimate{err: sd * factor / math.Sqrt(n), n: int(n)}
			return half(e)+beyond*e.err <= math.Log1p(threshold)
		})
		if n == 0 {
			return -1
		}
		return max(n-len(d), 0)
	})
}

// furtherUnpaired returns how many more rounds of each of two patterns, that were not
// measured together, show a difference of the threshold at level alpha by Welch's test. a
// and b are two or more logarithms of round means of each. The rounds of neither exceed
// 1000.
func furtherUnpaired(a, b []float64, threshold, alpha float64) FurtherRounds {
	va, vb := square(StdDev(a)), square(StdDev(b))
	na, nb := float64(len(a)), float64(len(b))
	_, df := welchError(va, vb, na, nb)
	most := max(mostRounds-max(len(a), len(b)), 0)
	return furtherRounds(df, func(factor float64) int {
		more := sort.Search(most+1, func(more int) bool {
			err, df := welchError(va*square(factor), vb*square(factor), na+float64(more), nb+float64(more))
			return err == 0 || powerOfT(math.Log1p(threshold)/err, df, alpha) >= wantedPower
		})
		if more > most {
			return -1
		}
		return more
	})
}

// furtherRounds calls further with factors of the standard deviation, which has df
// degrees of freedom.
func furtherRounds(df float64, further func(factor float64) int) FurtherRounds {
	return FurtherRounds{
		Least:  further(math.Sqrt(df / chiSquared(0.8, df))),
		Likely: further(1),
		Most:   further(math.Sqrt(df / chiSquared(0.2, df))),
	}
}

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
