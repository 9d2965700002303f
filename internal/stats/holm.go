package stats

import (
	"cmp"
	"math"
	"slices"
)

// holm returns the largest of the probabilities of several tests at which a difference is
// shown, so that the probability that any difference is shown falsely is at most alpha;
// -1 if none is (S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure",
// Scandinavian Journal of Statistics 6, 1979). All that Bonferroni's correction shows is
// among them.
func holm(p []float64, alpha float64) float64 {
	var least []float64
	for _, v := range p {
		if v <= alpha {
			least = append(least, v)
		}
	}
	slices.Sort(least)
	largest := -1.0
	for step, v := range least {
		if v*float64(len(p)-step) > alpha {
			break
		}
		largest = v
	}
	return largest
}

// comparisons are those of all pairs of groups.
type comparisons struct {
	entries []entry
	p       []float64 // of each group with those before it
	shown   float64   // the largest p of a pair that is shown
}

func compareAll(entries []entry) comparisons {
	c := comparisons{entries: entries, p: make([]float64, 0, len(entries)*(len(entries)-1)/2)}
	for i := range entries {
		for j := range i {
			c.p = append(c.p, c.contrast(i, j).p())
		}
	}
	c.shown = holm(c.p, 1-confidence)
	return c
}

// contrast is the difference of group i from an earlier group j.
func (c comparisons) contrast(i, j int) contrast {
	return difference(c.entries[i].group, c.entries[j].group)
}

// direction is -1 or 1 if group i is shown to be below, or above, an earlier group j; 0 if
// no difference is shown.
func (c comparisons) direction(i, j int) int {
	if c.p[i*(i-1)/2+j] > c.shown {
		return 0
	}
	if c.contrast(i, j).mean < 0 {
		return -1
	}
	return 1
}

// pair is the comparison of group i with an earlier group j, with its interval at a level
// at which those of all pairs hold together (Bonferroni). Holm's procedure shows more than
// these: the interval of such a pair ends at 0 (O. Guilbaud, "Simultaneous Confidence
// Regions Corresponding to Holm's Step-Down Procedure", Biometrical Journal 50, 2008).
func (c comparisons) pair(i, j int) Comparison {
	out := c.contrast(i, j).at(1 - (1-confidence)/float64(len(c.p)))
	switch c.direction(i, j) {
	case -1:
		out.High = min(out.High, 0)
	case 1:
		out.Low = max(out.Low, 0)
	}
	return out
}

// HolmAdjusted returns, in the order of the tests, the smallest level at which Holm's
// procedure shows each of them, at most 1. What is at most alpha holds together with the
// probability 1-alpha, however the tests depend on each other. NaN is no test: it stays
// NaN and is not counted.
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
