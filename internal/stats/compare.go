package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Comparison is the difference between two groups a and b.
type Comparison struct {
	// Difference is a minus b in the values' unit, the mean over the rounds that both
	// have; Low and High are its confidence interval, NaN if the pair could not be
	// tested.
	Difference, Low, High float64
	// Rounds is how many rounds both have, or 0 if they share fewer than two and the
	// comparison is not paired.
	Rounds int
	// Needed is about how many rounds would show a real difference of this size; 0 if the
	// pair could not be tested or more than 1000 would be needed.
	Needed int
}

// Tested reports whether the data was sufficient for an interval.
func (c Comparison) Tested() bool { return !math.IsNaN(c.Low) }

// Shown reports whether the interval excludes zero.
func (c Comparison) Shown() bool { return c.Low > 0 || c.High < 0 }

// Compare compares two groups at a confidence level such as 0.95. Rounds that both have
// are compared pairwise, so that changes between rounds that affect both, such as the
// time of day, cancel out: Student's t on the differences of the round means, df =
// rounds-1, with the standard error widened for autocorrelation from eight rounds on.
// Groups that share fewer than two rounds are compared by Welch's t on their round means.
func Compare(a, b Group, level float64) Comparison {
	am, bm := a.means(), b.means()
	var differences []float64
	for i := range min(len(am), len(bm)) {
		if d := am[i] - bm[i]; !math.IsNaN(d) {
			differences = append(differences, d)
		}
	}
	if n := len(differences); n >= 2 {
		c := Comparison{Difference: Mean(differences), Rounds: n}
		spread := StdDev(differences) * inflation(differences)
		half := studentT(1-level, float64(n-1)) * spread / math.Sqrt(float64(n))
		c.Low, c.High = c.Difference-half, c.Difference+half
		c.Needed = needed(math.Abs(c.Difference), spread, level)
		return c
	}
	return welch(present(am), present(bm), level)
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
