package stats

import (
	"math"
	"slices"
)

// signedRankMost is the most rounds of an exact signed-rank interval.
const signedRankMost = 200

// SignedRank is Wilcoxon's signed-rank test of n log ratios with the estimate and the
// interval that belong to it. It assumes that they are symmetric about their centre, and
// an outlier moves it little.
type SignedRank struct {
	Shift     float64 // Hodges-Lehmann estimate: the median of the means of all pairs of values
	Low, High float64 // of Shift; NaN if there are too few rounds for the level
	Level     float64 // the exact confidence of Low and High, at least the one asked for
	V         float64 // the sum of the ranks of positive values by their size; tied sizes share the mean of their ranks
	P         float64 // exact, two-sided; NaN if a value is 0 or two are equally far from 0
}

// HodgesLehmann returns the signed-rank estimate at a confidence level such as 0.95. The
// interval is from the k-th smallest to the k-th largest mean of a pair, k the largest at
// which the exact distribution leaves (1-level)/2 outside; at 95 % that needs six rounds
// (J. L. Hodges and E. L. Lehmann, "Estimates of Location Based on Rank Tests", Annals of
// Mathematical Statistics 34, 1963). false: not available, for no or more than 200 rounds.
// Takes O(n³) steps.
func HodgesLehmann(logRatios []float64, level float64) (SignedRank, bool) {
	d := finites(logRatios)
	if len(d) == 0 || len(d) > signedRankMost {
		return SignedRank{}, false
	}
	means := pairMeans(d)
	cdf := signedRankCDF(len(d))
	out := SignedRank{Shift: quantileSorted(means, 0.5), Low: math.NaN(), High: math.NaN(), Level: math.NaN(), P: math.NaN()}
	k := 0
	for k < len(cdf) && cdf[k] <= (1-level)/2+1e-12 {
		k++
	}
	if k > 0 {
		out.Low, out.High, out.Level = means[k-1], means[len(means)-k], 1-2*cdf[k-1]
	}
	var distinct bool
	if out.V, distinct = rankSum(d); distinct {
		v := int(out.V)
		below := cdf[v]
		above := 1.0
		if v > 0 {
			above = 1 - cdf[v-1]
		}
		out.P = min(1, 2*min(below, above))
	}
	return out, true
}

// pairMeans returns the means of all pairs of values, each with itself among them, in
// ascending order (Walsh averages).
func pairMeans(d []float64) []float64 {
	means := make([]float64, 0, len(d)*(len(d)+1)/2)
	for i, v := range d {
		for _, w := range d[i:] {
			means = append(means, (v+w)/2)
		}
	}
	slices.Sort(means)
	return means
}

// rankSum returns the sum of the ranks of positive values by their distance from 0.
// distinct reports whether no distance is 0 or occurs twice.
func rankSum(d []float64) (sum float64, distinct bool) {
	distinct = true
	for _, v := range d {
		closer, tied := 0, 0
		for _, w := range d {
			switch size := math.Abs(w); {
			case size < math.Abs(v):
				closer++
			case size == math.Abs(v):
				tied++
			}
		}
		distinct = distinct && v != 0 && tied == 1
		if v > 0 {
			sum += float64(closer) + float64(tied+1)/2
		}
	}
	return sum, distinct
}
