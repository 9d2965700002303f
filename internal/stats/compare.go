package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// Comparison is the difference between two groups a and b.
type Comparison struct {
	// Ratio reports whether the groups were compared on the logarithmic scale. Then
	// Difference is a over b, minus 1: the geometric mean over the rounds that both have.
	// Otherwise it is a minus b in the values' unit.
	Ratio bool
	// Low and High are the confidence interval of Difference, NaN if the pair could not
	// be tested.
	Difference, Low, High float64
	// Rounds is how many rounds were compared pairwise: those in which both have values of
	// one session. 0 if they are fewer than two and the comparison is not paired.
	Rounds int
	// Apart is set where the comparison is not paired because one of the groups was
	// measured in a session in which the other was not. What changed between the sessions
	// is then part of the difference, and the interval does not allow for it.
	Apart bool
	// Needed is about how many rounds would show a real difference of this size; 0 if the
	// pair could not be tested or more than 1000 would be needed.
	Needed int
}

// Tested reports whether the data was sufficient for an interval.
func (c Comparison) Tested() bool { return !math.IsNaN(c.Low) }

// Shown reports whether the interval excludes zero.
func (c Comparison) Shown() bool { return c.Low > 0 || c.High < 0 }

// Compare compares two groups at a confidence level such as 0.95. Rounds in which both
// have values of one session are compared pairwise, so that changes between rounds that
// affect both, such as the time of day, cancel out: Student's t on the differences of the
// round means, df = rounds-1. It holds under drift that both share, because the order in
// a round is random. Groups with fewer than two such rounds are compared by Welch's t on
// their round means. Both are done on logarithms where all round means are positive:
// networks change by factors, and no bound of a ratio is then below -100 %.
func Compare(a, b Group, level float64) Comparison {
	am, bm := a.means(), b.means()
	logs := positive(am) && positive(bm)
	if logs {
		am, bm = logarithms(am), logarithms(bm)
	}
	var c Comparison
	if differences := pairwise(a, b, am, bm); len(differences) >= 2 {
		c = paired(differences, level)
	} else {
		c = welch(present(am), present(bm), level)
		c.Apart = a.apart(b)
	}
	if c.Ratio = logs; logs {
		c.Difference, c.Low, c.High = math.Expm1(c.Difference), math.Expm1(c.Low), math.Expm1(c.High)
	}
	return c
}

// positive reports whether all round means are; NaN is of a round without values.
func positive(means []float64) bool {
	return !slices.ContainsFunc(means, func(v float64) bool { return v <= 0 })
}

func logarithms(means []float64) []float64 {
	out := make([]float64, len(means))
	for i, v := range means {
		out[i] = math.Log(v)
	}
	return out
}

// pairwise returns the differences of the rounds in which both groups have values of one
// session.
func pairwise(a, b Group, am, bm []float64) []float64 {
	var out []float64
	for i := range min(len(am), len(bm)) {
		if d := am[i] - bm[i]; !math.IsNaN(d) && overlap(a.sessions(i), b.sessions(i)) {
			out = append(out, d)
		}
	}
	return out
}

func paired(differences []float64, level float64) Comparison {
	n := len(differences)
	c := Comparison{Difference: Mean(differences), Rounds: n}
	spread := StdDev(differences)
	half := studentT(1-level, float64(n-1)) * spread / math.Sqrt(float64(n))
	c.Low, c.High = c.Difference-half, c.Difference+half
	c.Needed = needed(math.Abs(c.Difference), spread, level)
	return c
}

// welch compares unpaired groups (B. L. Welch, "The Generalization of 'Student's'
// Problem", Biometrika 34, 1947).
func welch(a, b []float64, level float64) Comparison {
	c := Comparison{Difference: Mean(a) - Mean(b), Low: math.NaN(), High: math.NaN()}
	if len(a) < 2 || len(b) < 2 {
		return c
	}
	na, nb := float64(len(a)), float64(len(b))
	va, vb := square(StdDev(a))/na, square(StdDev(b))/nb
	half := 0.0
	if va+vb > 0 {
		df := square(va+vb) / (square(va)/(na-1) + square(vb)/(nb-1))
		half = studentT(1-level, df) * math.Sqrt(va+vb)
	}
	c.Low, c.High = c.Difference-half, c.Difference+half
	return c
}

func square(v float64) float64 { return v * v }

// needed returns the fewest rounds whose interval would be narrower than the difference,
// 0 for more than 1000.
func needed(difference, spread, level float64) int {
	// The result for the normal distribution is never larger than Student's.
	least := square(mathext.NormalQuantile(1-(1-level)/2) * spread / difference)
	if !(least <= 1000) {
		return 0
	}
	for n := max(2, int(least)); n <= 1000; n++ {
		if studentT(1-level, float64(n-1))*spread/math.Sqrt(float64(n)) < difference {
			return n
		}
	}
	return 0
}
