package report

import (
	"math"

	"soku/internal/text"
)

// timeFigures draws each pattern's trials over time, one panel a pattern on
// common axes, so that panels compare.
func (t testView) timeFigures(id string, series map[string]int) []figure {
	low, high, end := math.Inf(1), 0.0, 0.0
	for _, r := range t.Rows {
		for _, s := range r.series {
			for _, p := range s.points {
				if p.value > 0 {
					low = min(low, p.value)
				}
				high, end = max(high, p.value, p.high), max(end, p.at)
			}
		}
	}
	if end == 0 && math.IsInf(low, 1) {
		return nil
	}
	x := exactAxis(end, panelBox.Left, panelBox.Right, 5).in(one)
	y, unit := t.basisAxis(low, high, panelBox, 4)
	title := t.unit(unit)
	if t.Basis.isTime() {
		title = t.SayFor(t.test(), "chart.round_trip", nil)
	}
	var out []figure
	for i, r := range t.panels() {
		if len(r.series) == 0 {
			continue
		}
		p := t.overTime(t.Say("chart.time.title", text.Args{"Pattern": r.Pattern}), title, panelBox, x, y)
		for _, s := range r.series {
			t.timeLines(p, s, series[r.Pattern])
		}
		out = append(out, panel(id, i, r.Pattern, p))
	}
	return out
}

// timeLines draws a trial over time; of one that is ranked by round trips also the
// slowest.
func (t testView) timeLines(out *plot, s series, color int) {
	trial := text.Args{"Round": s.round, "Repeat": s.repeat, "ByHand": t.ByHand, "Failed": s.failed}
	class := "time"
	if s.failed {
		class = "time failed"
	}
	var values, highs [][2]float64
	for _, p := range s.points {
		values = append(values, [2]float64{out.x.at(p.at), out.y.at(p.value)})
		if p.high > 0 {
			highs = append(highs, [2]float64{out.x.at(p.at), out.y.at(p.high)})
		}
	}
	out.line(class, color, t.Say("chart.time.trial", trial), values...)
	if len(highs) > 0 && t.Basis.isTime() {
		out.line("time high", color, t.SayFor(t.test(), "chart.time.slowest", trial), highs...)
	}
}
