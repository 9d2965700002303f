package stats

import "math"

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
	// SignedRanks is set where the rounds have heavy tails, so that Difference is the
	// Hodges-Lehmann estimate and the interval that of the signed-rank test.
	SignedRanks bool
	// Seen is set, of one of several comparisons, where it is as in [PatternPair].
	Seen bool
	// Apart is set where the comparison is not paired because one of the groups was
	// measured in a session in which the other was not. What changed between the sessions
	// is then part of the difference, and the interval does not allow for it.
	Apart bool
	// Needed is the approximate number of rounds that would show a real difference of this size,
	// or 0 if the pair could not be tested or more than 1000 would be needed.
	Needed int
}

// Tested reports whether the data was sufficient for an interval.
func (c Comparison) Tested() bool { return !math.IsNaN(c.Low) }

// Shown reports whether the interval excludes zero.
func (c Comparison) Shown() bool { return c.Low > 0 || c.High < 0 }

// Compare compares two groups at a confidence level such as 0.95. Rounds in which both
// have values of one session are compared pairwise, so that changes between rounds that
// affect both, such as the time of day, cancel out: Student's t on the differences of the
// round means, df = rounds-1, or the signed-rank test, by the rule of [estimateOf]. It holds
// under drift that both share, because the order in a round is random. Groups with fewer than
// two such rounds are compared by Welch's t on their round means. Fewer than three rounds are
// not tested. Both are done on logarithms where all round means are positive:
// networks change by factors, and no bound of a ratio is then below -100 %.
func Compare(a, b Group, level float64) Comparison { return Looks{}.Compare(a, b, level) }

// Compare is the function of that name, for groups that are looked at so often. The error
// probability of a look, which is known for a level of 95 %, changes with the level in proportion.
func (l Looks) Compare(a, b Group, level float64) Comparison {
	d := difference(a.means(), b.means()).at(l)
	alpha := (1 - level) * (l.Alpha() / (1 - confidence))
	d.estimate = d.forLevel(alpha)
	c := d.interval(alpha)
	c.Needed = d.needed(alpha)
	return c
}

// contrast is the difference between two groups before a level is chosen: on logarithms
// if logs is set.
type contrast struct {
	estimate    // err is NaN if it could not be tested
	apart, logs bool
	// series are the values that it rests on: the differences of rounds, or those of each
	// group if it is not paired.
	series  [][]float64
	looks   Looks
	refused bool // there is a test, but none that the looks allow
}

// at is the contrast as one that is looked at so often. Without a maximum of looks only
// rounds that are compared pairwise can be tested.
func (d contrast) at(looks Looks) contrast {
	d.looks = looks
	if looks.anytime {
		d.ranks = nil
	}
	if looks.anytime && d.n == 0 && !math.IsNaN(d.err) {
		d.err, d.refused = math.NaN(), true
	}
	return d
}

func difference(a, b roundMeans) contrast {
	logs := a.logs != nil && b.logs != nil
	am, bm := a.values, b.values
	if logs {
		am, bm = a.logs, b.logs
	}
	var d contrast
	if differences := pairwise(a.group, b.group, am, bm); len(differences) >= 2 {
		d = paired(differences)
	} else {
		d = welch(present(am), present(bm))
		d.apart = a.apart(b)
	}
	d.logs = logs
	return d.tested()
}

// interval returns the comparison with its interval at the level 1-alpha, without Needed.
func (d contrast) interval(alpha float64) Comparison {
	c := Comparison{Difference: d.value(), Low: math.NaN(), High: math.NaN(), Rounds: d.n, Apart: d.apart, Ratio: d.logs, SignedRanks: d.ranks != nil}
	if !math.IsNaN(d.err) {
		c.Low, c.High = d.looks.intervals(alpha)(d.estimate)
	}
	if d.logs {
		c.Difference, c.Low, c.High = math.Expm1(c.Difference), math.Expm1(c.Low), math.Expm1(c.High)
	}
	return c
}

// holm returns the comparison as one of several: with its interval at the level 1-alpha at
// which the intervals of all hold together (Bonferroni). Holm's procedure shows more than
// these: where its adjusted probability shows a difference, the interval ends at 0 at the
// latest (O. Guilbaud, "Simultaneous
// Confidence Regions Corresponding to Holm's Step-Down Procedure", Biometrical Journal 50,
// 2008).
func (d contrast) holm(alpha, adjusted float64) Comparison {
	c := d.interval(alpha)
	if adjusted <= d.looks.Alpha() {
		c.endAtZero()
	}
	return c
}

// endAtZero limits the interval of a difference that is shown to its side of 0.
func (c *Comparison) endAtZero() {
	if c.Difference < 0 {
		c.High = min(c.High, 0)
	} else {
		c.Low = max(c.Low, 0)
	}
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

// paired is the contrast of two or more differences of rounds.
func paired(differences []float64) contrast {
	return contrast{estimate: estimateOf(differences), series: [][]float64{differences}}
}

// tested is the contrast without its error if the rounds are too few to test.
func (d contrast) tested() contrast {
	if d.fewest < testedRounds {
		d.err = math.NaN()
	}
	return d
}

// welch compares unpaired groups (B. L. Welch, "The Generalization of 'Student's'
// Problem", Biometrika 34, 1947).
func welch(a, b []float64) contrast {
	d := contrast{series: [][]float64{a, b}}
	d.mean, d.fewest = Mean(a)-Mean(b), min(len(a), len(b))
	if d.fewest >= 2 {
		d.err, d.df = welchError(square(StdDev(a)), square(StdDev(b)), float64(len(a)), float64(len(b)))
	}
	return d
}

// welchError returns the standard error of the difference of two means, of na and nb values
// with these variances, and its degrees of freedom.
func welchError(a, b, na, nb float64) (err, df float64) {
	va, vb := a/na, b/nb
	df = na + nb - 2
	if err = math.Sqrt(va + vb); err > 0 {
		df = square(va+vb) / (square(va)/(na-1) + square(vb)/(nb-1))
	}
	return err, df
}

// RarestMode returns the N of which a mode that one of N trials has, or more, would have shown
// itself in n trials with 95 %: 1/(1 - 0.05^(1/n)). Rarer modes are not ruled out. It is 0 for no trials.
func RarestMode(n int) float64 {
	if n == 0 {
		return 0
	}
	return 1 / (1 - math.Pow(1-confidence, 1/float64(n)))
}

func square(v float64) float64 { return v * v }

// needed returns the fewest rounds that show and whose interval would be narrower than the difference,
// 0 for more than 1000 and for groups that are not compared pairwise. Degrees of freedom
// beyond those of its own rounds stay.
func (d contrast) needed(alpha float64) int {
	if d.n == 0 {
		return 0
	}
	own := float64(d.n)
	spread, more := d.err*math.Sqrt(own), max(d.df-(own-1), 0)
	half := d.looks.halves(alpha)
	needed := fewestRounds(func(n float64) bool {
		return half(estimate{err: spread / math.Sqrt(n), df: n - 1 + more, n: int(n)}) < math.Abs(d.mean)
	})
	if needed > 0 && !d.pooled {
		needed = max(needed, shownRounds)
	}
	return needed
}
