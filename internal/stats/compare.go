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
func Compare(a, b Group, level float64) Comparison { return difference(a, b).at(level) }

// contrast is the difference between two groups before a level is chosen: on logarithms
// if logs is set.
type contrast struct {
	mean, err, df float64 // estimate, its standard error, degrees of freedom; err is NaN if it could not be tested
	rounds        int     // compared pairwise, as in Comparison
	apart, logs   bool
}

func difference(a, b Group) contrast {
	am, bm := a.means(), b.means()
	logs := positive(am) && positive(bm)
	if logs {
		am, bm = logarithms(am), logarithms(bm)
	}
	var d contrast
	if differences := pairwise(a, b, am, bm); len(differences) >= 2 {
		d = paired(differences)
	} else {
		d = welch(present(am), present(bm))
		d.apart = a.apart(b)
	}
	d.logs = logs
	return d
}

// at returns the comparison with its interval at a level.
func (d contrast) at(level float64) Comparison {
	c := Comparison{Difference: d.mean, Low: math.NaN(), High: math.NaN(), Rounds: d.rounds, Apart: d.apart, Ratio: d.logs}
	if !math.IsNaN(d.err) {
		half := 0.0
		if d.err > 0 {
			half = studentT(1-level, d.df) * d.err
		}
		c.Low, c.High = d.mean-half, d.mean+half
	}
	if d.rounds > 0 {
		c.Needed = needed(math.Abs(d.mean), d.err*math.Sqrt(float64(d.rounds)), level)
	}
	if d.logs {
		c.Difference, c.Low, c.High = math.Expm1(c.Difference), math.Expm1(c.Low), math.Expm1(c.High)
	}
	return c
}

// p returns the two-sided probability of a difference of at least this size between equal
// groups, 1 if it could not be tested.
func (d contrast) p() float64 {
	switch {
	case math.IsNaN(d.err) || d.mean == 0:
		return 1
	case d.err == 0:
		return 0
	}
	return studentP(d.mean/d.err, d.df)
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

func paired(differences []float64) contrast {
	n := len(differences)
	return contrast{mean: Mean(differences), err: StdDev(differences) / math.Sqrt(float64(n)), df: float64(n - 1), rounds: n}
}

// welch compares unpaired groups (B. L. Welch, "The Generalization of 'Student's'
// Problem", Biometrika 34, 1947).
func welch(a, b []float64) contrast {
	d := contrast{mean: Mean(a) - Mean(b), err: math.NaN()}
	if len(a) < 2 || len(b) < 2 {
		return d
	}
	na, nb := float64(len(a)), float64(len(b))
	va, vb := square(StdDev(a))/na, square(StdDev(b))/nb
	if d.err = math.Sqrt(va + vb); d.err > 0 {
		d.df = square(va+vb) / (square(va)/(na-1) + square(vb)/(nb-1))
	}
	return d
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
