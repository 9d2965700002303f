package stats

import "math"

// Jain is the fairness index of shares of one thing: the square of their sum over
// their number times the sum of their squares, from 1 divided by their number,
// where one has all, to 1, where all have the same. It does not depend on the unit.
// Negative shares count as 0. NaN where nobody has anything. Source: R. Jain,
// D. Chiu, W. Hawe, "A Quantitative Measure of Fairness and Discrimination for
// Resource Allocation in Shared Computer Systems", DEC-TR-301, 1984.
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
		s = max(s, 0) / most // so that no square overflows
		sum += s
		squares += s * s
	}
	return sum * sum / (float64(len(shares)) * squares)
}
