package report

import (
	"math"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/report/outline"
	"soku/internal/report/plot"
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
func (t testView) loadFigure(id string) *outline.Figure {
	var rows []*Row
	for _, r := range t.pictured() {
		if r.underLoad() {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	f := plot.InBothWidths(id, func(width float64) *plot.Plot { return t.load(rows, width) })
	f.Caption = t.Sentence("chart.load.caption", text.Args{"From": barFrom, "To": barTo})
	return &f
}

func (t testView) load(rows []*Row, width float64) *plot.Plot {
	low, high := math.Inf(1), 0.0
	for _, r := range rows {
		for _, d := range []*metric.Distribution{metric.IdleRoundTrips, metric.LoadedRoundTrips} {
			if h := r.Histogram(d); h != nil {
				low, high = min(low, percentile(h, barFrom)), max(high, percentile(h, barTo))
			}
		}
	}
	box := outline.Box{Left: 8, Top: 20, Right: width - 8, Bottom: 20 + loadRow*float64(len(rows))}
	p := plot.New(plot.Frame{
		Title: t.Sentence("chart.load.title", text.Args{"Heading": t.heading()}), Desc: t.loadContent(rows), Width: width, Height: box.Bottom + 40, Box: box, XTitle: t.SentenceFor(t.test(), "chart.round_trip", nil),
	}, plot.Log(low, high, box.Left, box.Right, int(width/70)).Labelled(timeText), plot.Axis{})
	t.sayBetter(p, metric.RTTP50)
	for i, r := range rows {
		top := box.Top + loadRow*float64(i)
		value := ""
		if s := r.figure(metric.RPM); s != nil {
			value = t.Sentence("chart.load.value", text.Args{"RPM": s.Value})
		}
		p.RowTitle(top, r.Pattern, r.Pattern, value, 90)
		if h := r.Histogram(metric.IdleRoundTrips); h != nil {
			addRoundTrips(p, t.Sentence("chart.load.idle", barArgs(r, h)), "interval", h, t.hues.of(r.Levels), top+22)
		}
		if h := r.Histogram(metric.LoadedRoundTrips); h != nil {
			addRoundTrips(p, t.Sentence("chart.load.loaded", barArgs(r, h)), "loaded", h, t.hues.of(r.Levels), top+37)
		}
	}
	return p
}

// loadLines are the round trips of a row's trials over time, a line for each part of a trial.
func loadLines(r *Row) (out [][]series) {
	for _, s := range r.loads {
		var parts []series
		for _, part := range s.parts {
			parts = append(parts, series{round: s.round, repeat: s.repeat, points: part, until: s.to})
		}
		out = append(out, parts)
	}
	return out
}

func percentile(h *measure.Histogram, p float64) float64 { return float64(h.Percentile(p)) }

func barArgs(r *Row, h *measure.Histogram) text.Args {
	p := h.Percentiles()
	return text.Args{"Pattern": r.Pattern, "P50": p.P50, "P99": p.P99, "Max": h.Max()}
}

func addRoundTrips(p *plot.Plot, title, class string, h *measure.Histogram, color int, top float64) {
	const height = 12
	p.Band(class, color, percentile(h, barFrom), percentile(h, barTo), top, height, title)
	p.Stroke("mean", color, percentile(h, 50), top, top+height, title)
}

// loadOverTime draws the round trips before, during and after the load, over the time of the
// load, which is that of the first trial.
func (t testView) loadOverTime(id string) []outline.Figure {
	title := func(pattern string) string { return t.Sentence("chart.load_time.title", text.Args{"Pattern": pattern}) }
	return t.panelsOverTime(id, title, true, loadLines, func(p *plot.Plot, r *Row) {
		p.Band("load", t.hues.of(r.Levels), r.loads[0].from, r.loads[0].to, p.Plot.Top, p.Plot.Bottom-p.Plot.Top, t.Sentence("chart.load_time.load", nil))
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
