package stats

import "math"

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
