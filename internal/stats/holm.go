package stats

import (
	"cmp"
	"math"
	"slices"
)

// HolmAdjusted returns, in the order of the tests, the smallest level at which Holm's
// procedure shows each of them, at most 1. What is at most alpha holds together with the
// probability 1-alpha, however the tests depend on each other (S. Holm, "A Simple
// Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6,
// 1979). NaN is no test: it stays NaN and is not counted.
func HolmAdjusted(p []float64) []float64 {
	out := make([]float64, len(p))
	order := make([]int, 0, len(p))
	for i, v := range p {
		if out[i] = v; !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	running := 0.0
	for step, i := range order {
		running = max(running, min(1, float64(len(order)-step)*p[i]))
		out[i] = running
	}
	return out
}

// bonferroni is the level of each of several tests at which all hold together with the
// probability 1-alpha.
func bonferroni(alpha float64, tests int) float64 { return alpha / float64(max(tests, 1)) }
