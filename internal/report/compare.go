package report

import (
	"cmp"
	"slices"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/stats"
)

// Choice is one of the things that [Compare] compares: the results of a test run by hand, of
// a campaign, or of some of its patterns.
type Choice struct {
	Name    string // that the caller gave it
	Results []*measure.Result
	// Single reports that a person named one result: checks judge its figures without an
	// interval.
	Single bool
	// Unvaried is as in [Input].
	Unvaried map[string][]string
	// Practical is the smallest difference that matters by the plan of the campaign, as a
	// ratio; 0: it does not say.
	Practical float64
	// Limits are as in [Design].
	Limits func(*measure.Result) []measure.Limit
	// Until is as in [Design].
	Until Until
}

// NewChoice begins a choice; [Choice.Add] takes its results.
func NewChoice(name string, unvaried map[string][]string) *Choice {
	return &Choice{Name: name, Unvaried: unvaried}
}

// Add takes a result. It keeps no series of it, so that a choice does not hold documents.
func (c *Choice) Add(r *measure.Result) { c.Results = append(c.Results, r.WithoutSeries()) }

// CompareOptions say what is compared.
type CompareOptions struct {
	// Practical is the smallest difference that matters, as a ratio: 0.02 for 2 %. 0: that of
	// the first choice whose plan has one, or [stats.DefaultPractical].
	Practical float64
	AllPairs  bool // every pair, instead of all against the first
	// Metric is the figure that is compared, of the tests that have it; nil: that by which each
	// is ranked.
	Metric *metric.Definition
}

// Comparisons are what some choices show about each other.
type Comparisons struct {
	Practical float64
	AllPairs  bool
	Tests     []ComparedTest    // those of one label one after another
	Overall   []ComparedOverall // of the tests of one label, in their order
	LeftOut   int               // patterns of tests that only one of the choices has
	Campaign  string            // identity of the one that measured them, or empty if unknown
	Failed    []FailedChoice    // that are in no comparison because no trial of theirs succeeded
}

// FailedChoice is a choice of which no trial succeeded.
type FailedChoice struct {
	Choice string         `json:"choice"`
	Trials int            `json:"trials"`
	Error  *measure.Error `json:"error"` // of the last one
}

// Failed says why no trial of the choice succeeded. It is nil if one did, or if there was none.
func (c *Choice) Failed() *FailedChoice {
	if n := len(c.Results); n > 0 && len(successful(c.Results)) == 0 {
		return &FailedChoice{c.Name, n, c.Results[n-1].Error}
	}
	return nil
}

// ComparedTest is the choices and their comparisons under one label, and for one pattern
// where choices have several.
type ComparedTest struct {
	Label     string
	Test      measure.Test
	Capture   capture
	Same      []measure.Level // levels that all choices share here, of factors that vary within them
	Metric    *metric.Definition
	Choices   []ComparedChoice // in the order in which they were given; those that have the test
	Pairs     []ComparedPair
	Different []Option // options that differ between the results
	Ingested  int      // results that soku did not measure
	Stated    int      // of those, the ones whose table states their round

	family  int             // tests of one family hold together
	interim interimAnalyses // the choice that was looked at most before its campaign ended
}

// ComparedChoice is one choice in a test.
type ComparedChoice struct {
	Name  string
	Value float64 // as in [stats.Estimates] of all choices of the test
	// Low and High are the 95 % interval of Value, NaN with fewer than two rounds.
	Low, High float64
	Rounds    int // that have a value
	Trials    int // with a value
	Failed    int // trials without a value, most of which failed

	interim interimAnalyses
	place   int // among the choices that were given
	group   stats.Group
	results []*measure.Result
}

// ComparedPair is the comparison of A with B, indices of [ComparedTest.Choices].
type ComparedPair struct {
	A, B int
	stats.ChoiceComparison
}

// Interval is the interval of one pair at a confidence level such as 0.95. It holds at each
// interim analysis of rounds that measured both, but not jointly with the other pairs' intervals.
func (t *ComparedTest) Interval(p ComparedPair, level float64) stats.Comparison {
	looks := t.interim.Looks
	if p.Rounds == 0 { // of different runs, which no look compared
		looks = stats.Looks{}
	}
	return looks.Compare(t.Choices[p.A].group, t.Choices[p.B].group, level)
}

// Compare compares choices by the figures that rank their tests ([metric.Ranking]):
// those of one label, or the only ones of one kind, and patterns with the same levels. All
// comparisons of one label hold together. Every choice has a comparison with the first, or
// with AllPairs with any other; else the error, of kind usage, says why not.
func Compare(choices []*Choice, o CompareOptions) (*Comparisons, error) {
	for _, c := range choices {
		o.Practical = cmp.Or(o.Practical, c.Practical)
	}
	o.Practical = cmp.Or(o.Practical, stats.DefaultPractical)
	out := &Comparisons{Practical: o.Practical, AllPairs: o.AllPairs}
	for n, f := range familiesOf(choices) {
		tests, left := f.tests(o)
		for i := range tests {
			tests[i].family = n
		}
		out.LeftOut += left
		tests = compareAllOf(tests, o)
		out.Tests, out.Overall = append(out.Tests, tests...), append(out.Overall, overallOf(tests)...)
	}
	for i := range choices {
		if !out.has(i) && (i > 0 || len(out.Tests) == 0) {
			return nil, whyNot(choices, i)
		}
	}
	return out, nil
}

// has reports whether a choice is in any comparison.
func (c *Comparisons) has(place int) bool {
	return slices.ContainsFunc(c.Tests, func(t ComparedTest) bool {
		return slices.ContainsFunc(t.Pairs, func(p ComparedPair) bool {
			return t.Choices[p.A].place == place || t.Choices[p.B].place == place
		})
	})
}

// compareAllOf makes the comparisons of one label, which hold together, and leaves out
// tests that have none.
func compareAllOf(tests []ComparedTest, o CompareOptions) []ComparedTest {
	var pairs []stats.ChoicePair
	var looks interimAnalyses
	for i := range tests {
		t := &tests[i]
		for _, c := range t.Choices {
			looks = looks.stricter(c.interim)
		}
		t.pair(o.AllPairs)
		for _, p := range t.Pairs {
			pairs = append(pairs, stats.ChoicePair{A: t.Choices[p.A].group, B: t.Choices[p.B].group})
		}
	}
	if len(pairs) == 0 {
		return nil
	}
	done := looks.CompareChoices(pairs, tests[0].Metric.Better == metric.Higher, o.Practical)
	for i := range tests {
		tests[i].interim = looks
		n := len(tests[i].Pairs)
		for j := range n {
			tests[i].Pairs[j].ChoiceComparison = done[j]
		}
		done = done[n:]
	}
	return slices.DeleteFunc(tests, func(t ComparedTest) bool { return len(t.Pairs) == 0 })
}

// pair names the pairs to compare: each choice against the first that was given, or against
// every one before it. Choices that have a result in common are no pair.
func (t *ComparedTest) pair(all bool) {
	for a := range t.Choices {
		for b := range t.Choices[:a] {
			if (all || t.Choices[b].place == 0) && !overlapping(t.Choices[a].results, t.Choices[b].results) {
				t.Pairs = append(t.Pairs, ComparedPair{A: a, B: b})
			}
		}
	}
}

// overlapping reports whether a result is in both.
func overlapping(a, b []*measure.Result) bool {
	ids := map[string]bool{}
	for _, r := range a {
		ids[r.ID] = true
	}
	return slices.ContainsFunc(b, func(r *measure.Result) bool { return ids[r.ID] })
}
