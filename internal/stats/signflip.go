package stats

import "math"

// signFlipMost is the most rounds of an exact sign-flip test, whose steps double with
// every second round: 2 ms for 20 rounds, some 10 ms for 24, 160 ms for 30.
const signFlipMost = 24

// Exact is a test of a mean that assumes no distribution, only that under no difference
// each log ratio is as likely to have the other sign.
type Exact struct {
	P         float64 // two-sided, at least 2 to the power 1-n of n rounds
	Low, High float64 // of the mean; NaN if there are too few rounds for the level
}

// SignFlip returns the share of the 2^n ways to choose signs of n log ratios whose sum is
// at least as far from 0, and the interval of the means that this test does not reject at
// a confidence level such as 0.95: from the k-th smallest to the k-th largest mean of all
// subsets, k = 2^n·(1-level)/2 (J. A. Hartigan, "Using Subsample Values as Typical Values",
// Journal of the American Statistical Association 64, 1969). At 95 % that needs six rounds.
// false: not available, for no or more than 24 rounds. Takes O(2^(n/2)) steps and space.
func SignFlip(logRatios []float64, level float64) (Exact, bool) {
	d := finites(logRatios)
	if len(d) == 0 || len(d) > signFlipMost {
		return Exact{}, false
	}
	ways := math.Ldexp(1, len(d))
	up, down := newSubsets(d, 1), newSubsets(d, -1)
	// Flipping the signs of a subset makes a sum as far from 0 on the other side if the
	// subset's sum is at most 0.
	out := Exact{P: min(1, 2*float64(min(up.atMost(0), down.atMost(0)))/ways), Low: math.NaN(), High: math.NaN()}
	if k := int(math.Floor(ways*(1-level)/2 + 1e-9)); k > 0 {
		out.Low, out.High = up.mean(k), -down.mean(k)
	}
	return out, true
}

// subsets are those of some values, in two halves: a subset is one of the first half's and
// one of the second half's, so that all can be counted without making each.
type subsets struct {
	halves    [2][]float64
	low, high float64    // of the values
	sums      [4]merging // two a half
}

type merging []float64

func newSubsets(values []float64, sign float64) *subsets {
	v := make([]float64, len(values))
	for i := range values {
		v[i] = sign * values[i]
	}
	s := &subsets{halves: [2][]float64{v[:len(v)/2], v[len(v)/2:]}}
	s.low, s.high = Range(v)
	return s
}

// atMost counts the subsets, the empty one among them, whose mean is at most a value.
func (s *subsets) atMost(mean float64) int {
	var size float64
	for _, half := range s.halves {
		for _, v := range half {
			size += math.Abs(v - mean)
		}
	}
	limit := 1e-13 * size // rounding must not separate equal sums
	first, second := s.sorted(0, mean), s.sorted(1, mean)
	count, below := 0, len(second)
	for _, v := range first {
		for below > 0 && v+second[below-1] > limit {
			below--
		}
		count += below
	}
	return count
}

// sorted returns the sums of the subsets of a half, less a value each, in ascending order.
func (s *subsets) sorted(half int, less float64) []float64 {
	sums, spare := append(s.sums[2*half][:0], 0), s.sums[2*half+1]
	for _, v := range s.halves[half] {
		spare = mergeShifted(spare[:0], sums, v-less)
		sums, spare = spare, sums
	}
	s.sums[2*half], s.sums[2*half+1] = sums, spare
	return sums
}

// mergeShifted appends an ascending list and the same list with a value added, in
// ascending order.
func mergeShifted(out, list []float64, shift float64) []float64 {
	i := 0
	for _, shifted := range list {
		shifted += shift
		for i < len(list) && list[i] <= shifted {
			out = append(out, list[i])
			i++
		}
		out = append(out, shifted)
	}
	return append(out, list[i:]...)
}

// mean returns the k-th smallest mean of a subset that is not empty, by bisection.
func (s *subsets) mean(k int) float64 {
	low, high := s.low, s.high
	for {
		middle := low + (high-low)/2
		if middle <= low || middle >= high {
			return high
		}
		if s.atMost(middle)-1 >= k {
			high = middle
		} else {
			low = middle
		}
	}
}
