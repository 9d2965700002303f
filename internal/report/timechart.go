package report

import (
	"math"
	"slices"

	"soku/internal/report/outline"
	"soku/internal/report/plot"
	"soku/internal/text"
)

// timeFigures draws each pattern's trials over time, by the figure that ranks.
func (t testView) timeFigures(id string) []outline.Figure {
	title := func(pattern string) string { return t.Sentence("chart.time.title", text.Args{"Pattern": pattern}) }
	return t.panelsOverTime(id, title, t.Basis.isTime(), timeOf, nil)
}

// timeOf is the line of each trial of a row.
func timeOf(r *Row) (out [][]series) {
	for _, s := range r.series {
		out = append(out, []series{s})
	}
	return out
}

// panelsOverTime draws the lines of trials over time, one panel a pattern on common axes, so that panels
// compare. roundTrips is set if the values are round trips; otherwise they have the unit of the figure that ranks. under, unless
// it is nil, adds what lies under the lines of a row.
func (t testView) panelsOverTime(id string, title func(pattern string) string, roundTrips bool, lines func(*Row) [][]series, under func(*plot.Plot, *Row)) []outline.Figure {
	low, high, end := math.Inf(1), 0.0, 0.0
	for i := range t.Rows {
		for _, s := range slices.Concat(lines(&t.Rows[i])...) {
			end = max(end, s.until)
			for _, p := range s.points {
				if p.value > 0 {
					low = min(low, p.value)
				}
				high, end = max(high, p.value, p.high), max(end, p.at)
			}
		}
	}
	if math.IsInf(low, 1) && (roundTrips || end == 0) {
		return nil
	}
	x := plot.Exact(end, panelBox.Left, panelBox.Right, 5).Labelled(ticksIn(one))
	y, unit := t.basisAxis(low, high, panelBox, 4)
	yTitle := t.unit(unit)
	if roundTrips {
		y, yTitle = plot.Log(low, high, panelBox.Bottom, panelBox.Top, 6).Labelled(timeText), t.SentenceFor(t.test(), "chart.round_trip", nil)
	}
	var out []outline.Figure
	for i, r := range t.panels() {
		trials := lines(r)
		if len(trials) == 0 {
			continue
		}
		drawn := evenly(trials, mostLines)
		p := t.overTime(title(r.Pattern), t.timeContent(drawn, roundTrips), yTitle, panelBox, x, y)
		if under != nil {
			under(p, r)
		}
		for _, s := range slices.Concat(drawn...) {
			t.timeLines(p, s, t.hues.of(r.Levels))
		}
		out = append(out, p.OfSeveral(id, i, t.Sentence("chart.time.caption", text.Args{"Pattern": r.Pattern, "Shown": len(drawn), "Trials": len(trials)})))
	}
	return out
}

// timeLines draws a trial over time; of one that is ranked by round trips also the
// slowest.
func (t testView) timeLines(out *plot.Plot, s series, color int) {
	trial := text.Args{"Round": s.round, "Repeat": s.repeat, "ByHand": t.ByHand, "Failed": s.failed}
	class := "time"
	if s.failed {
		class = "time failed"
	}
	var values, highs [][2]float64
	for _, p := range s.points {
		values = append(values, [2]float64{out.X.At(p.at), out.Y.At(p.value)})
		if p.high > 0 {
			highs = append(highs, [2]float64{out.X.At(p.at), out.Y.At(p.high)})
		}
	}
	out.Line(class, color, t.Sentence("chart.time.trial", trial), values...)
	if len(highs) > 0 && t.Basis.isTime() {
		out.Line("time high", color, t.SentenceFor(t.test(), "chart.time.slowest", trial), highs...)
	}
}
