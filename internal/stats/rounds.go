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

// RoundsForHalfWidth returns the fewest rounds whose t interval at a confidence level
// extends by at most half to either side of the mean, at this standard deviation of the
// values; 0 for more than 1000.
func RoundsForHalfWidth(half, sd, level float64) int {
	return fewestRounds(func(n float64) bool { return studentT(1-level, n-1)*sd/math.Sqrt(n) <= half })
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
	// Likely is of the standard deviation that was seen. Least and Most are of its lower
	// and upper limit, outside each of which the true one is with 20 %: few rounds say
	// little about the spread, and so about what is needed.
	Least, Likely, Most int
}

// Further returns how many more rounds show a difference of the threshold, a ratio such as
// 0.03, at 95 % with a probability of 80 %, given the spread of these log ratios. The
// limits of the standard deviation are those of the chi-squared distribution of the
// variance. false for fewer than two log ratios.
func Further(logRatios []float64, threshold float64) (FurtherRounds, bool) {
	d := finites(logRatios)
	if len(d) < 2 {
		return FurtherRounds{}, false
	}
	df, sd := float64(len(d)-1), StdDev(d)
	further := func(factor float64) int {
		n := RoundsForPower(math.Log1p(threshold), sd*factor, wantedPower, 1-confidence)
		if n == 0 {
			return -1
		}
		return max(n-len(d), 0)
	}
	return FurtherRounds{
		Least:  further(math.Sqrt(df / chiSquared(0.8, df))),
		Likely: further(1),
		Most:   further(math.Sqrt(df / chiSquared(0.2, df))),
	}, true
}
