package report

import (
	"math"

	"soku/internal/measure"
	"soku/internal/stats"
)

// ComparedOverall is what all patterns of a test show together about a choice A against B. Decisions
// are counted by pattern.
type ComparedOverall struct {
	Label   string
	Test    measure.Test
	Capture capture
	Metric  string // key
	A, B    string
	// OverallComparison has the intervals of all choices of the test together (Bonferroni). Of a single
	// pattern it is that of its comparison.
	stats.OverallComparison
	Better, Worse, Same, NotShown int
	// SeenBetter and SeenWorse are those of NotShown that are as in [stats.ChoiceComparison].
	SeenBetter, SeenWorse int

	family int
	pairs  []stats.ChoicePair
}

func (o *ComparedOverall) total() int   { return o.Better + o.Worse + o.Same + o.NotShown }
func (o *ComparedOverall) tested() bool { return !math.IsNaN(o.Low) }

// overallOf is one for every two choices that tests of one family compare.
func overallOf(tests []ComparedTest) (out []ComparedOverall) {
	for _, t := range tests {
		for _, p := range t.Pairs {
			a, b := t.Choices[p.A], t.Choices[p.B]
			o := findOrAdd(&out, func(o ComparedOverall) bool { return o.A == a.Name && o.B == b.Name },
				ComparedOverall{Label: t.Label, Test: t.Test, Capture: t.Capture, Metric: t.Metric.Key, A: a.Name, B: b.Name, family: t.family})
			o.count(p.ChoiceComparison)
			o.pairs = append(o.pairs, stats.ChoicePair{A: a.group, B: b.group})
			o.OverallComparison = stats.OverallComparison{Ratio: p.Ratio, Low: p.Low, High: p.High, Patterns: 1, Rounds: min(a.Rounds, b.Rounds), Enough: p.Enough}
			if p.Rounds > 0 {
				o.Rounds = p.Rounds
			}
		}
	}
	for i := range out {
		if o := &out[i]; len(o.pairs) > 1 {
			o.OverallComparison = tests[0].interim.CompareOverall(o.pairs, 1-overallError/float64(len(out)))
		}
	}
	return out
}

// overallError is the probability that any of the intervals of a test does not have the true ratio.
const overallError = 0.05

func (o *ComparedOverall) count(c stats.ChoiceComparison) {
	switch c.Decision {
	case stats.Better:
		o.Better++
	case stats.Worse:
		o.Worse++
	case stats.Same:
		o.Same++
	default:
		o.NotShown++
	}
	switch c.Seen {
	case stats.Better:
		o.SeenBetter++
	case stats.Worse:
		o.SeenWorse++
	}
}

// adjusted is how many tested comparisons hold together with those of a test.
func (c *Comparisons) adjusted(t *ComparedTest) (n int) {
	for _, o := range c.Tests {
		if o.family != t.family {
			continue
		}
		for _, p := range o.Pairs {
			if p.Untested == "" {
				n++
			}
		}
	}
	return n
}
