package report

import (
	"fmt"
	"math"

	"soku/internal/text"
)

const (
	panelWidth  = 328
	panelHeight = 150
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
	plot := box{Left: 58, Top: 8, Right: panelWidth - 8, Bottom: panelHeight - 36}
	x, xAt := exactAxis(end, plot.Left, plot.Right, 5)
	var y axis
	var yAt []float64
	unit := scaleFor(formOf(t.Basis.Metric.Quantity).scales, high/2)
	title := t.unit(unit)
	if t.Basis.isTime() {
		title = t.SentenceFor(t.test(), "chart.round_trip", nil)
		y, yAt = logAxis(low, high, plot.Bottom, plot.Top, 6)
	} else {
		y, yAt = exactAxis(high*1.05, plot.Bottom, plot.Top, 4)
	}
	var out []figure
	for i, r := range t.panels() {
		if len(r.series) == 0 {
			continue
		}
		c := chart{
			ID: fmt.Sprintf("%s-%d", id, i), Title: t.Sentence("chart.time.title", text.Args{"Pattern": r.Pattern}), Width: panelWidth, Height: panelHeight, Plot: plot,
			XTitle: t.Sentence("chart.time.axis", nil), YTitle: title,
		}
		for _, v := range xAt {
			c.XTicks = append(c.XTicks, tick{At: x.at(v), Text: tickText(v, scale{per: 1})})
		}
		c.XTicks = anchors(c.XTicks, panelWidth)
		for _, v := range yAt {
			label := tickText(v, unit)
			if t.Basis.isTime() {
				label = timeText(v)
			}
			c.YTicks = append(c.YTicks, tick{At: y.at(v), Text: label})
		}
		for _, s := range r.series {
			c.Lines = append(c.Lines, t.timeLines(s, x, y, series[r.Pattern])...)
		}
		out = append(out, figure{Caption: r.Pattern, Charts: []chart{c}})
	}
	return out
}

// timeLines draws a trial over time; of one that is ranked by round trips also the
// slowest.
func (t testView) timeLines(s series, x, y axis, color int) []shape {
	trial := text.Args{"Round": s.round, "Repeat": s.repeat, "ByHand": t.ByHand, "Failed": s.failed}
	class := "time"
	if s.failed {
		class = "time failed"
	}
	var values, highs [][2]float64
	for _, p := range s.points {
		values = append(values, [2]float64{x.at(p.at), y.at(p.value)})
		if p.high > 0 {
			highs = append(highs, [2]float64{x.at(p.at), y.at(p.high)})
		}
	}
	out := []shape{{Class: class, Series: color, D: path(values), Title: t.Sentence("chart.time.trial", trial)}}
	if len(highs) > 0 && t.Basis.isTime() {
		out = append(out, shape{Class: "time high", Series: color, D: path(highs), Title: t.SentenceFor(t.test(), "chart.time.slowest", trial)})
	}
	return out
}
