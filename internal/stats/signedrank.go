package stats

import (
	"math"
	"slices"
	"sort"
)

const (
	// mostRanked is the most values that are tested by signed ranks: beyond, the mean of values
	// with heavy tails is nearly normal, and the work grows with the third power.
	mostRanked = 100
	// heavyKurtosis and heavyDeviations are the kurtosis, and the deviation in robust standard
	// deviations, above which the values of rounds have heavy tails.
	heavyKurtosis   = 4.5
	heavyDeviations = 4
)

// heavy reports whether values have heavy tails: a kurtosis above that of most normal samples,
// or a value far from the median in units of the median absolute deviation (which is multiplied
// by 1.4826, so that it is a standard deviation of normal values).
func heavy(values []float64) bool {
	mean, n := Mean(values), float64(len(values))
	var second, fourth float64
	for _, v := range values {
		second += square(v - mean)
		fourth += square(square(v - mean))
	}
	if second == 0 {
		return false
	}
	middle := Median(values)
	deviations := make([]float64, len(values))
	for i, v := range values {
		deviations[i] = math.Abs(v - middle)
	}
	return n*fourth > heavyKurtosis*square(second) || slices.Max(deviations) > heavyDeviations*1.4826*Median(deviations)
}

// signedRanks is the signed-rank test of the centre of symmetric values with its exact
// distribution (F. Wilcoxon, "Individual Comparisons by Ranking Methods", Biometrics Bulletin 1,
// 1945), and the estimate that belongs to it (J. L. Hodges, E. L. Lehmann, "Estimates of Location
// Based on Rank Tests", Annals of Mathematical Statistics 34, 1963).
type signedRanks struct {
	walsh []float64 // means of all pairs of values, also of each with itself, ascending
	upTo  []float64 // upTo[v] is the probability that the sum of the positive ranks is at most v
}

func rankSigns(values []float64) *signedRanks {
	s := signedRanks{upTo: []float64{1}}
	for i, a := range values {
		for _, b := range values[i:] {
			s.walsh = append(s.walsh, a/2+b/2)
		}
		// A rank more has each sign in half of the cases.
		next := make([]float64, len(s.upTo)+i+1)
		for v, p := range s.upTo {
			next[v] += p / 2
			next[v+i+1] += p / 2
		}
		s.upTo = next
	}
	slices.Sort(s.walsh)
	for v := 1; v < len(s.upTo); v++ {
		s.upTo[v] += s.upTo[v-1]
	}
	return &s
}

// centre is the Hodges-Lehmann estimate.
func (s *signedRanks) centre() float64 { return Median(s.walsh) }

// p is the two-sided probability of a sum of ranks at least this far from its middle where the
// centre is 0. The sum is the number of means of pairs on one side (J. W. Tukey, "The Simplest
// Signed-Rank Tests", 1949); those that are 0 count to both.
func (s *signedRanks) p() float64 {
	below := sort.SearchFloat64s(s.walsh, 0)
	upTo := sort.Search(len(s.walsh), func(i int) bool { return s.walsh[i] > 0 })
	return min(1, 2*s.upTo[min(upTo, len(s.walsh)-below)])
}

// leastP is the smallest probability that this number of values can have.
func (s *signedRanks) leastP() float64 { return 2 * s.upTo[0] }

// interval is that of the centre at the level 1-alpha, which is not below leastP.
func (s *signedRanks) interval(alpha float64) (low, high float64) {
	const rounding = 1e-12
	k := sort.Search(len(s.upTo), func(v int) bool { return s.upTo[v] > alpha/2+rounding })
	return s.walsh[k-1], s.walsh[len(s.walsh)-k]
}

func (s *signedRanks) negated() *signedRanks {
	if s == nil {
		return nil
	}
	out := signedRanks{upTo: s.upTo, walsh: make([]float64, len(s.walsh))}
	for i, v := range s.walsh {
		out.walsh[len(s.walsh)-1-i] = -v
	}
	return &out
}
