package report

import (
	"soku/internal/measure/metric"
	"soku/internal/report/outline"
	"soku/internal/report/plot"
	"soku/internal/text"
)

// sayBetter writes above the plot whether a higher or a lower figure is better.
func (t testView) sayBetter(p *plot.Plot, m *metric.Definition) {
	p.Label(p.Plot.Right, p.Plot.Top-7, "end", "small", t.Sentence("chart.better", text.Args{"Higher": m.Better == metric.Higher}), "")
}

// panelBox is the room between the axes of a panel over time.
var panelBox = outline.Box{Left: 64, Top: 8, Right: plot.Panel - 8, Bottom: panelHeight - 36}

const panelHeight = 150

// overTime is a panel over the seconds of a trial.
func (t testView) overTime(title, desc, yTitle string, box outline.Box, x, y plot.Axis) *plot.Plot {
	return plot.New(plot.Frame{Title: title, Desc: desc, Width: plot.Panel, Height: box.Bottom + 36, Box: box, XTitle: t.Sentence("chart.time.axis", nil), YTitle: yTitle}, x, y)
}

// basisAxis is the vertical axis of the figure that ranks: logarithmic for times, from zero for
// others.
func (t testView) basisAxis(low, high float64, box outline.Box, ticks int) (y plot.Axis, unit scale) {
	unit = scaleFor(formOf(t.Basis.Metric.Quantity).scales, high/2)
	if t.Basis.isTime() {
		return plot.Log(low, high, box.Bottom, box.Top, 6).Labelled(timeText), unit
	}
	return plot.Exact(high*1.05, box.Bottom, box.Top, ticks).Labelled(ticksIn(unit)), unit
}
