package stats

import "math"

// minAdjustedRounds is the fewest rounds whose autocorrelation is estimated. With fewer it
// cannot be distinguished from chance.
const minAdjustedRounds = 8

// Interval is an estimate with its confidence interval. Low and High are NaN with fewer
// than two rounds.
type Interval struct {
	Estimate, Low, High float64
	Rounds              int // rounds that have values
}

// AdjustedInterval is the interval of one pattern's mean, from few rounds that may be
// autocorrelated.
type AdjustedInterval struct {
	Interval
	// Autocorrelation, 0 to 0.9, is the lag-1 value that the interval allows for.
	Autocorrelation float64
	// DF is the effective number of degrees of freedom: 0 with fewer than two rounds, and at
	// least 4 where the interval allows for autocorrelation.
	DF float64
}

// AutocorrelationAdjusted returns the mean of round means with its interval at a confidence
// level such as 0.95: Student's t, from eight rounds on adjusted for the autocorrelation r
// of the rounds, as of a first-order autoregressive process. The standard error is
// multiplied by √((1+r)/(1-r)), and n-1 degrees of freedom become
// (n-1)(1-r²)/(1+r²), the number of independent values with as variable a variance (M. S.
// Bartlett, "On the Theoretical Specification and Sampling Properties of Autocorrelated
// Time-Series", Supplement to the Journal of the Royal Statistical Society 8, 1946). r is
// the lag-1 autocorrelation, corrected for its bias (M. G. Kendall, "Note on Bias in the
// Estimation of Autocorrelation", Biometrika 41, 1954), plus 0.2/√n, because a chance low r
// harms more than a chance high one, held to 0…0.9.
//
// In 12 rounds a 95 % interval holds the mean in 97 % of simulated campaigns whose rounds
// are independent, in 92 % if half of the variance is drift with r = 0.5, and in 84 % if
// all of it is drift with r = 0.8.
//
// Values that are not finite are left out, and the values on both sides of a gap count as neighbours.
func AutocorrelationAdjusted(means []float64, level float64) AdjustedInterval {
	x := finites(means)
	out := AdjustedInterval{Interval: Interval{Estimate: Mean(x), Low: math.NaN(), High: math.NaN(), Rounds: len(x)}}
	if len(x) < 2 {
		return out
	}
	n, r := float64(len(x)), 0.0
	if len(x) >= minAdjustedRounds {
		lag, _ := LagOne(x)
		r = limited(unbiasedLagOne(lag, n) + 0.2/math.Sqrt(n))
	}
	widen, df := adjustment(r, n-1)
	half := studentT(1-level, df) * StdDev(x) / math.Sqrt(n) * widen
	out.Low, out.High, out.Autocorrelation, out.DF = out.Estimate-half, out.Estimate+half, r, df
	return out
}

// leastDF is as many degrees of freedom as an allowance for autocorrelation leaves: those of
// five rounds. In few rounds a high autocorrelation is often by chance. With a single degree of
// freedom the interval of one pattern was then up to 46 % wide at 2 % noise, and no more of them
// held the mean; of many pairs it hid a difference of a factor of two in one of seven campaigns
// of five rounds, for no fewer false alarms (simulated in this package).
const leastDF = 4

// unbiasedLagOne corrects a lag-1 autocorrelation r of n rounds for its bias of about
// -(1+3r)/n (Kendall 1954).
func unbiasedLagOne(r, n float64) float64 { return (n*r + 1) / (n - 3) }

// limited returns an autocorrelation within what is allowed for: 0 to 0.9.
func limited(r float64) float64 { return min(max(r, 0), 0.9) }

// adjustment returns the factor on a standard error, and the degrees of freedom, that allow
// for an autocorrelation r. An allowance leaves at least [leastDF], or what there was.
func adjustment(r, df float64) (widen, effective float64) {
	return math.Sqrt((1 + r) / (1 - r)), max(min(df, leastDF), df*(1-r*r)/(1+r*r))
}

// inflation returns the factor on a standard error that was computed as if the values of a
// series were independent: as in [AutocorrelationAdjusted], without the addition.
// It is 1 for fewer than eight values.
func inflation(series []float64) float64 {
	if len(series) < minAdjustedRounds {
		return 1
	}
	lag, _ := LagOne(series)
	widen, _ := adjustment(limited(unbiasedLagOne(lag, float64(len(series)))), 0)
	return widen
}

// LagOne returns the lag-1 autocorrelation of a series: the sum of the products of
// neighbouring deviations from the mean over that of their squares. alike reports whether
// it is above 1.3/√n, so that neighbouring rounds are probably alike and intervals that take rounds
// as independent too narrow: chance alone explains one in ten such values. Values that are not
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
	return r, r > 1.3/math.Sqrt(float64(len(x)))
}
