package report

import (
	"slices"

	"soku/internal/stats"
	"soku/internal/text"
)

// comparedView is a test of comparisons with the language that its texts are made in.
type comparedView struct {
	all *Comparisons
	*ComparedTest
	*text.Catalogue
}

// basis is the test as that of a report, which has the names of its figure.
func (v comparedView) basis() testView {
	return testView{&Test{Label: v.Label, Test: v.Test, Capture: v.Capture, Basis: Basis{v.Metric}, apart: captureDiffers(v.all.families())}, v.Catalogue}
}

// families are the families of all tests.
func (c *Comparisons) families() (out []family) {
	for _, t := range c.Tests {
		out = append(out, family{label: t.Label, test: t.Test, capture: t.Capture})
	}
	return out
}

// decision is the sentence of one comparison.
func (v comparedView) decision(p ComparedPair) string {
	a, b := v.Choices[p.A], v.Choices[p.B]
	difference := v.difference(p)
	switch p.Untested {
	case stats.OneRound:
		return v.Sentence("compare.one_round", text.Args{"A": a.Name, "B": b.Name, "Difference": difference})
	case stats.Unpaired:
		return v.Sentence("compare.unpaired", text.Args{"A": a.Name, "B": b.Name, "Difference": difference})
	case stats.NoRatio:
		return v.Sentence("compare.no_ratio", text.Args{"A": a.Name, "B": b.Name, "Noun": v.basis().noun()})
	}
	shown := v.shown(p)
	switch p.Decision {
	case stats.Better:
		return v.Sentence("compare.better", text.Args{"A": a.Name, "B": b.Name, "Difference": difference, "Shown": shown})
	case stats.Worse:
		return v.Sentence("compare.worse", text.Args{"A": a.Name, "B": b.Name, "Difference": difference, "Shown": shown})
	case stats.Same:
		return v.Sentence("compare.same", text.Args{"A": a.Name, "B": b.Name, "Difference": difference, "Shown": shown, "Practical": v.all.Practical})
	}
	if p.Seen != "" {
		return v.Sentence("compare.seen", text.Args{"A": a.Name, "B": b.Name, "Better": p.Seen == stats.Better, "Rounds": p.Rounds, "Difference": difference, "Shown": shown, "More": v.more(p)})
	}
	return v.Sentence("compare.not_shown", text.Args{"A": a.Name, "B": b.Name, "Difference": difference, "Shown": shown, "More": v.more(p)})
}

// difference is how much more or less the first has, with the interval where there is one.
func (v comparedView) difference(p ComparedPair) string {
	if p.Untested == stats.NoRatio {
		return ""
	}
	return v.Sentence("compare.difference", text.Args{
		"Noun": v.basis().noun(), "Ratio": p.Ratio, "Difference": p.Ratio - 1, "Tested": p.High-p.Low >= leastWidth,
		"Low": whole(p.Low - 1), "High": whole(p.High - 1),
	})
}

// leastWidth is the width below which the ends of an interval are written alike.
const leastWidth = 1e-5

// shown is what a decision rests on.
func (v comparedView) shown(p ComparedPair) string {
	probability := p.Adjusted
	if p.Decision == stats.Same {
		probability = p.SameP
	}
	return v.Sentence("compare.shown", text.Args{
		"P": probability, "Ranks": p.SignedRanks && p.Decision != stats.Same, "Paired": p.Rounds, "A": v.Choices[p.A].Rounds, "B": v.Choices[p.B].Rounds,
	})
}

// more is how many more rounds would decide.
func (v comparedView) more(p ComparedPair) string {
	further := p.Further()
	return v.Sentence("compare.more", text.Args{
		"Least": further.Least, "Most": further.Most, "Practical": v.all.Practical, "Each": p.Rounds == 0,
	})
}

// options are options with their values.
func (v comparedView) options(different []Option) (out []string) {
	for _, o := range different {
		values := slices.Clone(o.Values)
		if i := slices.Index(values, ""); i >= 0 {
			values[i] = v.Sentence("report.option.not_set", nil)
		}
		out = append(out, v.Sentence("compare.option", text.Args{"Key": o.Key, "Values": values}))
	}
	return out
}

// mostStanding is how many comparisons a line has.
const mostStanding = 3

// Standing is a line on the figures after a number of rounds, if more may follow. It has no decisions: those
// of few rounds change.
func (c *Comparisons) Standing(in *text.Catalogue, rounds int) string {
	var pairs []string
	more := 0
	for i := range c.Tests {
		v := comparedView{c, &c.Tests[i], in}
		for _, p := range v.Pairs {
			if len(pairs) == mostStanding {
				more++
				continue
			}
			pairs = append(pairs, v.Sentence("compare.standing.pair", text.Args{
				"A": v.Choices[p.A].Name, "B": v.Choices[p.B].Name, "Named": c.AllPairs, "Difference": v.difference(p),
			}))
		}
	}
	return in.Sentence("compare.standing", text.Args{"Rounds": rounds, "Pairs": pairs, "More": more})
}
