package report

import (
	"math"
	"slices"

	"soku/internal/measure/metric"
	"soku/internal/report/outline"
	"soku/internal/stats"
	"soku/internal/text"
)

// Control is what a control pattern shows: whether the hosts themselves may be the limit of
// the patterns that are compared.
type Control struct {
	Pattern  string   `json:"pattern"`
	Estimate float64  `json:"estimate"` // as in [stats.Estimates]
	Best     string   `json:"best,omitempty"`
	Ratio    *float64 `json:"ratio,omitempty"` // of the control over Best, the best pattern that is compared
	Low      *float64 `json:"low,omitempty"`
	High     *float64 `json:"high,omitempty"`
	P        *float64 `json:"p,omitempty"`
	// Decision compares the control with Best. Only if the control is better, the hosts are shown
	// not to be the limit.
	Decision stats.Decision `json:"decision,omitempty"`
	// Seen is as in [LevelEffect], of rounds.
	Seen     stats.Decision `json:"seen,omitempty"`
	Untested bool           `json:"untested,omitempty"` // fewer than three rounds

	alike bool // neighbouring rounds are alike in Ratio
}

// withoutControl separates the patterns of the plan's control from those that are compared.
// Where only the control was measured, it is compared.
func (d Design) withoutControl(patterns []pattern) (compared, control []pattern) {
	for _, p := range patterns {
		if d.Control != nil && d.Control(p.levels) {
			control = append(control, p)
		} else {
			compared = append(compared, p)
		}
	}
	if len(compared) == 0 {
		return control, nil
	}
	return compared, control
}

// findControl compares each control pattern with the best of the others.
func (t *Test) findControl(compared, control []pattern, rounds map[int]int) {
	at := slices.IndexFunc(t.Ranking, func(p Place) bool { return p.Estimate != nil })
	var pairs []stats.ChoicePair
	groups := t.groups(control, rounds)
	estimates := stats.Estimates(slices.Concat(groups, t.groups(compared, rounds))) // of all, so that their ratios are those that are stated
	for i, g := range groups {
		if math.IsNaN(estimates[i].Estimate) {
			continue
		}
		c := Control{Pattern: g.Name, Estimate: estimates[i].Estimate}
		if at >= 0 {
			c.Best = t.Ranking[at].Pattern
			best := slices.IndexFunc(compared, func(p pattern) bool { return p.name == c.Best })
			pairs = append(pairs, stats.ChoicePair{A: g, B: t.group(compared[best], rounds)})
		}
		t.Controls = append(t.Controls, c)
	}
	for i, d := range t.interim.CompareChoices(pairs, t.Basis.Metric.Better == metric.Higher, t.Practical) {
		c := &t.Controls[i]
		c.Ratio, c.Low, c.High, c.P = finite(d.Ratio), finite(d.Low), finite(d.High), finite(d.Adjusted)
		c.Decision, c.Seen, c.Untested, c.alike = d.Decision, d.Seen, d.Untested != "", d.Alike
	}
}

// controlTable is the figures of the control; it has no columns if there is none.
func (t testView) controlTable() outline.Table {
	if len(t.ControlRows) == 0 {
		return outline.Table{}
	}
	alone := *t.Test
	alone.Rows, alone.Ranking = t.ControlRows, nil
	for _, c := range t.Controls {
		alone.Ranking = append(alone.Ranking, Place{Pattern: c.Pattern, Estimate: &c.Estimate})
	}
	out := testView{&alone, t.Catalogue}.figureTable()
	if !slices.ContainsFunc(t.Controls, func(c Control) bool { return c.Ratio != nil }) {
		return out
	}
	of := make([]Control, len(t.ControlRows)) // empty for a pattern without figures
	for i, r := range t.ControlRows {
		if at := slices.IndexFunc(t.Controls, func(c Control) bool { return c.Pattern == r.Pattern }); at >= 0 {
			of[i] = t.Controls[at]
		}
	}
	addFigures(&out, t.named("column.control_ratio", outline.Column{Number: true, Drop: 1}), one, func(i int) *float64 { return of[i].Ratio })
	t.addIntervals(&out, t.named("column.control_interval", outline.Column{Number: true, Drop: 6}), one, one.text, func(i int) (low, high *float64) { return of[i].Low, of[i].High })
	return out
}

// controls say what the control shows: a sentence for all patterns that show the same.
func (t testView) controls() (out []string) {
	var groups [][]Control
	for _, c := range t.Controls {
		same := func(g []Control) bool {
			return g[0].Decision == c.Decision && g[0].Untested == c.Untested && g[0].Best == c.Best && (g[0].Ratio == nil) == (c.Ratio == nil)
		}
		g := findOrAdd(&groups, same, nil)
		*g = append(*g, c)
	}
	for _, g := range groups {
		out = append(out, t.control(g))
	}
	return out
}

// control is the sentence of patterns that show the same.
func (t testView) control(all []Control) string {
	c := all[0]
	low, high := c.Estimate, c.Estimate
	ratios := []float64{0, 0}
	if c.Ratio != nil {
		ratios = []float64{*c.Ratio, *c.Ratio}
	}
	for _, o := range all {
		low, high = min(low, o.Estimate), max(high, o.Estimate)
		if o.Ratio != nil {
			ratios[0], ratios[1] = min(ratios[0], *o.Ratio), max(ratios[1], *o.Ratio)
		}
	}
	return t.Sentence("control.shows", text.Args{
		"Pattern": t.called(c.Pattern), "Patterns": len(all), "Noun": t.noun(), "Metric": t.Basis.Metric, "Low": low, "High": high, "Best": t.called(c.Best), "Known": c.Ratio != nil,
		"LowRatio": ratios[0], "HighRatio": ratios[1], "Untested": c.Untested, "Decision": string(c.Decision),
	})
}
