package report

import (
	"math"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/report/outline"
	"soku/internal/text"
)

const loadRow = 58

// Share of the round trips that the bars of a load chart leave out at either end, %.
const (
	barFrom = 5
	barTo   = 99
)

// loadFigure draws the round trips of each pattern without and with the load,
// in the order of the ranking.
func (t testView) loadFigure(id string, series map[string]int) *outline.Figure {
	var rows []*Row
	for _, r := range t.pictured() {
		if r.underLoad() {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	f := inBothWidths(id, func(width float64) *plot { return t.load(rows, width, series) })
	f.Caption = t.Sentence("chart.load.caption", text.Args{"From": barFrom, "To": barTo})
	return &f
}

func (t testView) load(rows []*Row, width float64, series map[string]int) *plot {
	low, high := math.Inf(1), 0.0
	for _, r := range rows {
		for _, d := range []*metric.Distribution{metric.IdleRoundTrips, metric.LoadedRoundTrips} {
			if h := r.Histogram(d); h != nil {
				low, high = min(low, percentile(h, barFrom)), max(high, percentile(h, barTo))
			}
		}
	}
	box := outline.Box{Left: 8, Top: 4, Right: width - 8, Bottom: 4 + loadRow*float64(len(rows))}
	p := t.describeAxes(newPlot(frame{
		title: t.Sentence("chart.load.title", text.Args{"Heading": t.heading()}), width: width, height: box.Bottom + 40, box: box, xTitle: t.SentenceFor(t.test(), "chart.round_trip", nil),
	}, logAxis(low, high, box.Left, box.Right, int(width/70)).labels(timeText), axis{}))
	for i, r := range rows {
		top := box.Top + loadRow*float64(i)
		value := ""
		if s := r.figure(metric.RPM); s != nil {
			value = t.Sentence("chart.load.value", text.Args{"RPM": s.Value})
		}
		p.rowTitle(top, r.Pattern, r.Pattern, value, 90)
		if h := r.Histogram(metric.IdleRoundTrips); h != nil {
			p.addRoundTrips(t.Sentence("chart.load.idle", barArgs(r, h)), "interval", h, series[r.Pattern], top+22)
		}
		if h := r.Histogram(metric.LoadedRoundTrips); h != nil {
			p.addRoundTrips(t.Sentence("chart.load.loaded", barArgs(r, h)), "loaded", h, series[r.Pattern], top+37)
		}
	}
	return p
}

func percentile(h *measure.Histogram, p float64) float64 { return float64(h.Percentile(p)) }

func barArgs(r *Row, h *measure.Histogram) text.Args {
	p := h.Percentiles()
	return text.Args{"Pattern": r.Pattern, "P50": p.P50, "P99": p.P99, "Max": h.Max()}
}

func (p *plot) addRoundTrips(title, class string, h *measure.Histogram, color int, top float64) {
	const height = 12
	p.band(class, color, percentile(h, barFrom), percentile(h, barTo), top, height, title)
	p.stroke("mean", color, percentile(h, 50), top, top+height, title)
}

// loadOverTime draws the round trips before, during and after the load, over the time of the
// load, which is that of the first trial.
func (t testView) loadOverTime(id string, color map[string]int) []outline.Figure {
	title := func(pattern string) string { return t.Sentence("chart.load_time.title", text.Args{"Pattern": pattern}) }
	return t.panelsOverTime(id, title, true, color, func(r *Row) (out []series) {
		for _, s := range r.loads {
			for _, part := range s.parts {
				out = append(out, series{round: s.round, repeat: s.repeat, points: part, until: s.to})
			}
		}
		return out
	}, func(p *plot, r *Row) {
		p.band("load", color[r.Pattern], r.loads[0].from, r.loads[0].to, p.Plot.Top, p.Plot.Bottom-p.Plot.Top, t.Sentence("chart.load_time.load", nil))
	})
}

// loadTable is what a load does to the latency of each pattern's path; without
// columns where no trial measured it.
func (t testView) loadTable() outline.Table {
	var rows []*Row
	for i := range t.Rows {
		if t.Rows[i].underLoad() {
			rows = append(rows, &t.Rows[i])
		}
	}
	if len(rows) == 0 {
		return outline.Table{}
	}
	out := outline.NewTable(len(rows))
	t.addPatterns(&out, rows, !t.ByHand)
	t.addMinor(&out, rows)
	t.addFamily(&out, rows, metric.UnderLoadFamily)
	return out
}
