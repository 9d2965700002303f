package stats

import (
	"math"
	"slices"
)

// Mean is the arithmetic mean; NaN for no values.
func Mean(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	// The mean of the differences from the first value keeps precision if the values are
	// large and close together.
	first, sum := values[0], 0.0
	for _, v := range values {
		sum += v - first
	}
	return first + sum/float64(len(values))
}

// StdDev is the sample standard deviation (divisor n-1); NaN for fewer than
// two values.
func StdDev(values []float64) float64 {
	if len(values) < 2 {
		return math.NaN()
	}
	mean, sum := Mean(values), 0.0
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(len(values)-1))
}

// CV is the coefficient of variation, the standard deviation divided by the
// absolute mean; NaN for fewer than two values or a mean of zero.
func CV(values []float64) float64 {
	mean := Mean(values)
	if mean == 0 {
		return math.NaN()
	}
	return StdDev(values) / math.Abs(mean)
}

// Median is the 0.5 quantile; NaN for no values.
func Median(values []float64) float64 { return Quantile(values, 0.5) }

// Range returns the smallest and the largest value; NaN for no values.
func Range(values []float64) (low, high float64) {
	if len(values) == 0 {
		return math.NaN(), math.NaN()
	}
	return slices.Min(values), slices.Max(values)
}

// Quantile is the value below which the share p (0 to 1) of the values lies,
// with linear interpolation between order statistics: type 7 of Hyndman and
// Fan, "Sample Quantiles in Statistical Packages", The American Statistician
// 50 (1996). It sorts a copy. NaN for no values or a p outside 0..1.
func Quantile(values []float64, p float64) float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	if len(sorted) == 0 || !(p >= 0 && p <= 1) {
		return math.NaN()
	}
	at := p * float64(len(sorted)-1)
	below := int(at)
	if below == len(sorted)-1 {
		return sorted[below]
	}
	fraction := at - float64(below)
	return sorted[below] + fraction*(sorted[below+1]-sorted[below])
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

// Jain returns the fairness index of shares: the square of their sum over their number
// times the sum of their squares. It is from 1 divided by their number, if one has
// everything, to 1, if all are equal. It does not depend on the unit. Negative shares
// count as 0. NaN if all shares are 0. Source: R. Jain, D. Chiu, W. Hawe, "A Quantitative
// Measure of Fairness and Discrimination for Resource Allocation in Shared Computer
// Systems", DEC-TR-301, 1984.
func Jain(shares []float64) float64 {
	if len(shares) == 0 {
		return math.NaN()
	}
	_, most := Range(shares)
	if !(most > 0) || math.IsInf(most, 1) {
		return math.NaN()
	}
	var sum, squares float64
	for _, s := range shares {
		s = max(s, 0) / most // prevents overflow of the squares
		sum += s
		squares += s * s
	}
	return sum * sum / (float64(len(shares)) * squares)
}
