package stats

import (
	"math"
	"slices"
)

// OverallComparison is what several patterns show together about the difference of one choice from
// another.
type OverallComparison struct {
	// Ratio is the geometric mean over the patterns of the ratio, and Low and High its interval; NaN
	// where there is none.
	Ratio, Low, High float64
	Patterns         int // that have a ratio
	// Rounds is how many rounds of each choice the interval rests on; 0: it rests on the patterns.
	Rounds int
	// Enough is set if the rounds, or the patterns, are as many as a decision takes.
	Enough bool
}

// Shown reports whether the interval excludes 1 and rests on enough for a decision.
func (o OverallComparison) Shown() bool { return o.Enough && (o.Low > 1 || o.High < 1) }

// CompareOverall compares two choices over pairs of their patterns, A with B, at a confidence level such
// as 0.95. Ratios of benchmarks are summarised by their geometric mean (P. J. Fleming and J. J. Wallace,
// "How Not to Lie with Statistics: The Correct Way to Summarize Benchmark Results", Communications of the
// ACM 29, 1986). The patterns of one round are not independent, so the round is the block: the geometric
// means over all patterns, of each round that has every pattern, are compared as by [Compare]. With fewer
// than three of these rounds, the logarithms of the patterns' ratios are the blocks (paired t, R. Jain,
// "The Art of Computer Systems Performance Analysis", 1991, section 13.4.1), which takes three patterns.
// Patterns with a round mean that is not positive are left out.
func (l Looks) CompareOverall(pairs []ChoicePair, level float64) OverallComparison {
	var a, b []roundMeans
	var ratios []float64
	for _, p := range pairs {
		if d := difference(p.A.means(), p.B.means()); d.logs && finite(d.mean) {
			a, b, ratios = append(a, p.A.means()), append(b, p.B.means()), append(ratios, d.mean)
		}
	}
	d := difference(acrossPatterns(a), acrossPatterns(b))
	byRounds := len(ratios) > 0 && !math.IsNaN(d.err)
	if !byRounds {
		d = contrast{estimate: studentOf(ratios), logs: true}.tested()
		d.n = 0 // they are no rounds
	}
	d = d.at(l)
	alpha := (1 - level) * (l.Alpha() / (1 - confidence))
	d.estimate = d.forLevel(alpha)
	c := d.interval(alpha)
	o := OverallComparison{Ratio: 1 + c.Difference, Low: 1 + c.Low, High: 1 + c.High, Patterns: len(ratios), Enough: d.fewest >= shownRounds}
	if byRounds {
		o.Rounds = d.fewest
	}
	return o
}

// acrossPatterns has the geometric mean over several patterns of each round in which one session
// measured all of them.
func acrossPatterns(patterns []roundMeans) roundMeans {
	var out Group
	for i := 0; slices.ContainsFunc(patterns, func(m roundMeans) bool { return i < len(m.logs) }); i++ {
		var logs []float64
		var sessions []int
		for n, m := range patterns {
			if i >= len(m.logs) || math.IsNaN(m.logs[i]) {
				continue
			}
			logs = append(logs, m.logs[i])
			in := m.group.sessions(i)
			if n > 0 {
				in = slices.DeleteFunc(slices.Clone(sessions), func(s int) bool { return !slices.Contains(in, s) })
			}
			sessions = in
		}
		var round []float64
		if len(logs) == len(patterns) && len(sessions) > 0 {
			round = []float64{math.Exp(Mean(logs))}
		}
		out.Rounds, out.Sessions = append(out.Rounds, round), append(out.Sessions, sessions)
	}
	return out.means()
}
