package report

import (
	"math"
	"slices"

	"soku/internal/report/outline"
	"soku/internal/stats"
	"soku/internal/text"
)

// comparedView is a test of comparisons with the language that its texts are made in.
type comparedView struct {
	all *Comparisons
	*ComparedTest
	*text.Catalogue
}

// rest are sentences about what is in no comparison.
func (c *Comparisons) rest(in *text.Catalogue) (out []string) {
	if c.LeftOut > 0 {
		out = append(out, in.Sentence("compare.left_out", text.Args{"N": c.LeftOut}))
	}
	for _, f := range c.Failed {
		message, _ := in.Error(f.Error)
		out = append(out, in.Sentence("compare.all_failed", text.Args{"Choice": f.Choice, "Trials": f.Trials, "Error": message}))
	}
	return out
}

// lastOfFamily reports whether the test, at that index, is the last of its family.
func (v comparedView) lastOfFamily(i int) bool {
	return i+1 == len(v.all.Tests) || v.all.Tests[i+1].family != v.family
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

// heading names the test, what is compared, and the levels that all choices share.
func (v comparedView) heading() string {
	var levels []string
	for _, l := range v.Same {
		if l.Factor != "" {
			levels = append(levels, v.Sentence("compare.level", text.Args{"Factor": l.Factor, "Level": l.Value}))
		} else {
			levels = append(levels, l.Value)
		}
	}
	b := v.basis()
	return v.Sentence("compare.heading", text.Args{"Label": b.label(), "Basis": b.basis(), "Levels": levels})
}

func (v comparedView) table() outline.Table {
	b := v.basis()
	out := outline.NewTable(len(v.Choices))
	out.AddText(b.named("column.choice", outline.Column{Head: true}), func(i int) string { return v.Choices[i].Name })
	out.Add(outline.Column{Name: b.estimate(), Number: true}, func(i int) outline.Cell { return figureCell(&v.Choices[i].Value, one, b.value) })
	addCounts(&out, b.named("column.rounds", outline.Column{Number: true}), func(i int) int { return v.Choices[i].Rounds })
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
		"Noun": v.basis().noun(), "Ratio": p.Ratio, "Difference": p.Ratio - 1, "Tested": p.Untested == "",
		"Low": whole(p.Low - 1), "High": whole(p.High - 1),
	})
}

// whole is v, or 0 where there is none.
func whole(v float64) float64 {
	if f := finite(v); f != nil {
		return *f
	}
	return 0
}

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

// notes are what limits the comparisons of a test's family.
func (v comparedView) notes() (out []string) {
	var apart, tested, alike bool
	for _, t := range v.relatives() {
		for _, p := range t.Pairs {
			apart, alike = apart || p.Apart, alike || p.Alike
			tested = tested || p.Apart && p.Untested == ""
		}
	}
	if apart {
		out = append(out, v.Sentence("compare.apart", text.Args{"Tested": tested}))
	}
	if alike {
		out = append(out, v.Sentence("compare.alike", nil))
	}
	if n := v.all.adjusted(v.ComparedTest); n > 1 {
		out = append(out, v.Sentence("compare.together", text.Args{"Comparisons": n}))
	}
	if rule := v.interim.rule(); rule != nil {
		out = append(out, rule.sentence(v.Catalogue))
	}
	return append(out, v.noted()...)
}

// noted are notes on the results of a test's family.
func (v comparedView) noted() (out []string) {
	ingested, stated := 0, 0
	var different []Option
	for _, t := range v.relatives() {
		for _, c := range t.Choices {
			if c.Failed > 0 {
				out = append(out, v.Sentence("compare.failed", text.Args{"Choice": c.Name, "N": c.Failed, "Of": c.Failed + c.Trials}))
			}
		}
		ingested, stated = ingested+t.Ingested, stated+t.Stated
		for _, o := range t.Different {
			if !slices.ContainsFunc(different, func(d Option) bool { return d.Key == o.Key }) {
				different = append(different, o)
			}
		}
	}
	if ingested > stated {
		out = append(out, v.Sentence("caveat.order_unknown", nil))
	}
	if stated > 0 {
		out = append(out, v.Sentence("caveat.order_stated", nil))
	}
	if len(different) > 0 {
		out = append(out, v.Sentence("compare.options", text.Args{"Options": v.options(different)}))
	}
	return out
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

// relatives are the tests of the family.
func (v comparedView) relatives() (out []ComparedTest) {
	for _, t := range v.all.Tests {
		if t.family == v.family {
			out = append(out, t)
		}
	}
	return out
}

// dots are the mean of each choice with its 95 % interval.
func (v comparedView) dots() *outline.Dots {
	low, high := v.span()
	b := v.basis()
	d := &outline.Dots{Low: low, High: high, LowText: b.value(low), HighText: b.value(high)}
	for _, c := range v.Choices {
		d.Rows = append(d.Rows, outline.Dot{Name: c.Name, Value: c.Value, Low: c.Low, High: c.High})
	}
	return d
}

// span is the range of the axis: all means and their intervals, those of few rounds as far as
// the means lie apart on either side.
func (v comparedView) span() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, c := range v.Choices {
		low, high = min(low, c.Value), max(high, c.Value)
	}
	room := max(high-low, 0.05*high)
	least, most := low-room, high+room
	for _, c := range v.Choices {
		if !math.IsNaN(c.Low) {
			low, high = min(low, max(c.Low, least)), max(high, min(c.High, most))
		}
	}
	if high <= low {
		return least, most + 1
	}
	return low, high
}

// mostStanding is how many comparisons a line has.
const mostStanding = 3

// Standing is a line on the state of the comparisons after a number of rounds, if more may follow.
func (c *Comparisons) Standing(in *text.Catalogue, rounds int) string {
	var pairs []string
	more, open := 0, 0
	for i := range c.Tests {
		v := comparedView{c, &c.Tests[i], in}
		for _, p := range v.Pairs {
			if p.Decision == stats.NotShown {
				open++
			}
			if len(pairs) == mostStanding {
				more++
				continue
			}
			pairs = append(pairs, v.Sentence("compare.standing.pair", text.Args{
				"A": v.Choices[p.A].Name, "B": v.Choices[p.B].Name, "Named": c.AllPairs, "Difference": v.difference(p), "Decision": string(p.Decision), "Once": v.interim.rule() == nil,
			}))
		}
	}
	return in.Sentence("compare.standing", text.Args{"Rounds": rounds, "Pairs": pairs, "More": more, "Open": open})
}
