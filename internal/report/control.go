package report

import (
	"slices"

	"soku/internal/measure"
	"soku/internal/stats"
	"soku/internal/text"
)

// Control is what a control pattern shows: whether the hosts themselves may be the limit of
// the patterns that are compared.
type Control struct {
	Pattern  string   `json:"pattern"`
	Estimate float64  `json:"estimate"` // mean of the round means
	Best     string   `json:"best,omitempty"`
	Ratio    *float64 `json:"ratio,omitempty"` // of the control over Best, the best pattern that is compared
	Low      *float64 `json:"low,omitempty"`
	High     *float64 `json:"high,omitempty"`
	P        *float64 `json:"p,omitempty"`
	// Decision is of the control against Best. Only if it is better, the hosts are shown not
	// to be the limit.
	Decision stats.Decision `json:"decision,omitempty"`
	Untested bool           `json:"untested,omitempty"` // one round has no spread
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
	for _, g := range t.groups(control, rounds) {
		spread := spreadOf(g.Rounds)
		if spread == nil {
			continue
		}
		c := Control{Pattern: g.Name, Estimate: spread.Mean}
		if at >= 0 {
			c.Best = t.Ranking[at].Pattern
			best := slices.IndexFunc(compared, func(p pattern) bool { return p.name == c.Best })
			pairs = append(pairs, stats.ChoicePair{A: g, B: t.group(compared[best], rounds)})
		}
		t.Controls = append(t.Controls, c)
	}
	for i, d := range stats.CompareChoices(pairs, t.Basis.Metric.Better == measure.Higher, t.Practical) {
		c := &t.Controls[i]
		c.Ratio, c.Low, c.High, c.P = finite(d.Ratio), finite(d.Low), finite(d.High), finite(d.Adjusted)
		c.Decision, c.Untested = d.Decision, d.Untested != ""
	}
}

// controlTable is the figures of the control; it has no columns if there is none.
func (t testView) controlTable(factors bool) table {
	if len(t.ControlRows) == 0 {
		return table{}
	}
	alone := *t.Test
	alone.Rows = t.ControlRows
	return testView{&alone, t.Catalogue}.figureTable(factors)
}

// controls say what the control shows.
func (t testView) controls() (out []string) {
	for _, c := range t.Controls {
		args := text.Args{
			"Pattern": c.Pattern, "Noun": t.noun(), "Estimate": t.value(c.Estimate), "Best": c.Best, "Ratio": 0.0, "Untested": c.Untested,
			"Decision": string(c.Decision), "Higher": t.Basis.Metric.Better == measure.Higher, "Practical": t.Practical,
		}
		if c.Ratio != nil {
			args["Ratio"] = *c.Ratio
		}
		out = append(out, t.Say("control.shows", args))
	}
	return out
}
