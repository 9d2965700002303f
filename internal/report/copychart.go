package report

import (
	"slices"

	"soku/internal/report/outline"
	"soku/internal/report/plot"
	"soku/internal/text"
)

// Dashes of the lines of a chart of a copy, which have the colour of their pattern.
const (
	dashRead = iota
	dashNetwork
	dashWritten
)

const (
	copyRates      = 120 // pixels of the rates
	copyOperations = 60  // and of the operations below
	copyGap        = 18  // between them
)

// copyFigures draws the typical trial of each pattern over time: the throughput of both disks
// and of the network, and below the operations of the disks. A panel a pattern, on common
// axes.
func (t testView) copyFigures(id string) []outline.Figure {
	rows, typical := typicalCopies(t.panels())
	if len(rows) == 0 {
		return nil
	}
	bps, operations, end := 0.0, 0.0, 0.0
	top := func(high *float64, points []point) {
		for _, p := range points {
			*high, end = max(*high, p.value), max(end, p.at)
		}
	}
	for _, s := range typical {
		top(&bps, s.network)
		for _, e := range []*copyEnd{s.source, s.sink} {
			if e != nil {
				top(&bps, e.rate)
				top(&operations, e.operations)
			}
		}
	}
	area := outline.Box{Left: 58, Top: 8, Right: plot.Panel - 8, Bottom: 8 + copyRates}
	unit := scaleFor(rateScales, bps/2)
	rates := plot.Exact(bps*1.05, area.Bottom, area.Top, 4).Labelled(ticksIn(unit))
	var below plot.Axis // of the operations; without ticks where no disk is known
	if operations > 0 {
		area.Bottom += copyGap + copyOperations
		below = plot.Exact(operations*1.05, area.Bottom, area.Bottom-copyOperations, 2).Labelled(ticksIn(one))
	}
	x := plot.Exact(end, area.Left, area.Right, 5).Labelled(ticksIn(one))
	var out []outline.Figure
	for i, s := range typical {
		trial := text.Args{"Pattern": rows[i].Pattern, "Round": s.round, "Repeat": s.repeat, "ByHand": t.ByHand}
		p := t.overTime(t.Sentence("chart.copy.title", trial), t.copyContent(s), t.unit(unit), area, x, rates)
		t.addCopy(p, s, t.hues.of(rows[i].Levels), below)
		out = append(out, p.OfSeveral(id, i, t.Sentence("chart.copy.caption", trial)))
	}
	return out
}

// addCopy draws a trial: its rates, and on an axis below them its operations.
func (t testView) addCopy(p *plot.Plot, s *copySeries, hue int, operations plot.Axis) {
	if p.AddYTicks(operations); len(operations.Marks) > 0 {
		p.Label(p.Plot.Left, p.Plot.Bottom-copyOperations-4, "start", "small", t.Sentence("chart.copy.operations", nil), "")
	}
	line := func(points []point, y plot.Axis, dash int, title string) {
		var at [][2]float64
		for _, v := range points {
			at = append(at, [2]float64{p.X.At(v.at), y.At(v.value)})
		}
		if len(at) == 1 { // a copy shorter than a sample
			at = [][2]float64{{p.Plot.Left, at[0][1]}, {p.Plot.Right, at[0][1]}}
		}
		if len(at) > 0 {
			p.Dashed(hue, dash, title, at...)
		}
	}
	if e := s.source; e != nil {
		line(e.rate, p.Y, dashRead, t.Sentence("chart.copy.read", text.Args{"Device": e.device}))
		line(e.operations, operations, dashRead, t.Sentence("chart.copy.reads", nil))
	}
	line(s.network, p.Y, dashNetwork, t.Sentence("chart.copy.network", nil))
	if e := s.sink; e != nil {
		line(e.rate, p.Y, dashWritten, t.Sentence("chart.copy.written", text.Args{"Device": e.device}))
		line(e.operations, operations, dashWritten, t.Sentence("chart.copy.writes", nil))
	}
}

// copyLegend names the dashes of the charts.
func (t testView) copyLegend() []outline.Legend {
	return []outline.Legend{
		{Series: outline.NoHue, Dash: dashRead, Text: t.Sentence("chart.copy.legend_read", nil)},
		{Series: outline.NoHue, Dash: dashNetwork, Text: t.Sentence("chart.copy.network", nil)},
		{Series: outline.NoHue, Dash: dashWritten, Text: t.Sentence("chart.copy.legend_written", nil)},
	}
}

// copyTable is the typical trial of each pattern over its whole time: what the charts draw;
// without columns where no trial copied files.
func (t testView) copyTable() outline.Table {
	rows, typical := typicalCopies(t.allRows())
	if len(rows) == 0 {
		return outline.Table{}
	}
	out := outline.NewTable(len(rows))
	t.addPatterns(&out, rows, !t.ByHand)
	t.addMinor(&out, rows)
	if !t.ByHand {
		addCounts(&out, t.named("column.round", outline.Column{Number: true, Drop: 5}), func(i int) int { return typical[i].round })
	}
	rate := func(heading string, keep int, of func(*copySeries) float64) {
		figures := make([]float64, len(typical))
		for i, s := range typical {
			figures[i] = of(s)
		}
		if slices.Max(figures) <= 0 {
			return
		}
		unit := scaleFor(rateScales, slices.Max(figures))
		addFigures(&out, t.named(heading, outline.Column{Unit: t.unit(unit), Number: true, Drop: keep}), unit, func(i int) *float64 { return present(figures[i]) })
	}
	disk := func(heading string, keep int, end func(*copySeries) *copyEnd, of func(*copyEnd) float64, unit scale, write func(float64) string) {
		if slices.ContainsFunc(typical, func(s *copySeries) bool { return end(s) != nil && end(s).device }) {
			out.Add(t.named(heading, outline.Column{Number: true, Drop: keep}), func(i int) outline.Cell {
				if e := end(typical[i]); e != nil && e.device {
					v := of(e)
					return figureCell(&v, unit, write)
				}
				return outline.Cell{Text: text.Absent}
			})
		}
	}
	source := func(s *copySeries) *copyEnd { return s.source }
	sink := func(s *copySeries) *copyEnd { return s.sink }
	busy, perSecond := func(e *copyEnd) float64 { return e.busy }, func(e *copyEnd) float64 { return e.perSecond }
	rate("column.copy_read", 0, func(s *copySeries) float64 { return s.source.meanBps() })
	disk("column.copy_reads", 2, source, perSecond, one, countText)
	disk("column.copy_read_busy", 4, source, busy, percent, text.Percent)
	rate("column.copy_network", 0, func(s *copySeries) float64 { return s.networkBps })
	rate("column.copy_written", 0, func(s *copySeries) float64 { return s.sink.meanBps() })
	disk("column.copy_writes", 1, sink, perSecond, one, countText)
	disk("column.copy_write_busy", 3, sink, busy, percent, text.Percent)
	return out
}

// meanBps is 0 for an end without files.
func (e *copyEnd) meanBps() float64 {
	if e == nil {
		return 0
	}
	return e.bps
}

// present is nil for 0.
func present(v float64) *float64 {
	if v == 0 {
		return nil
	}
	return &v
}

func (t testView) copyHeading() string {
	return t.Sentence("copy.over_time", text.Args{"ByHand": t.ByHand})
}
