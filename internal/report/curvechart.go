package report

import (
	"math"

	"soku/internal/measure"
	"soku/internal/text"
)

const (
	mostCurves  = 12 // more would be a tangle; the best are drawn
	curvePoints = 60
	mostNines   = 5 // the scale ends at 99.999 %
)

// curveFigure draws the merged round trips of each pattern as a curve of
// percentiles, stretched towards the slow end where they differ.
func (t testView) curveFigure(id string, series map[string]int) (figure, bool) {
	var rows []*Row
	for _, r := range t.drawn() {
		if r.Histogram(measure.RoundTrips) != nil {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return figure{}, false
	}
	drawn := rows[:min(len(rows), mostCurves)]
	f := figure{Caption: t.SentenceFor(t.test(), "chart.curves.caption", text.Args{"Best": len(drawn), "All": len(rows)})}
	rows = drawn
	for _, v := range []struct {
		class         string
		width, height float64
		ticks         int
	}{{"wide", wideChart, 320, 8}, {"narrow", narrowChart, 260, 8}} {
		c := t.curves(rows, v.width, v.height, v.ticks, series)
		c.ID, c.Class = id+"-"+v.class, v.class
		f.Charts = append(f.Charts, c)
	}
	for _, r := range rows {
		f.Legend = append(f.Legend, legend{series[r.Pattern], r.Pattern})
	}
	return f, true
}

func (t testView) curves(rows []*Row, width, height float64, ticks int, series map[string]int) chart {
	low, high, nines := math.Inf(1), 0.0, 1.0
	for _, r := range rows {
		h := r.Histogram(measure.RoundTrips)
		low, high = min(low, float64(h.Min())), max(high, float64(h.Max()))
		nines = max(nines, reach(h))
	}
	plot := box{Left: 58, Top: 10, Right: width - 10, Bottom: height - 42}
	y, at := logAxis(low, high, plot.Bottom, plot.Top, ticks)
	x := axis{low: 0, high: nines, from: plot.Left, to: plot.Right}
	c := chart{
		Title: t.SentenceFor(t.test(), "chart.curves.title", text.Args{"Heading": t.heading()}), Desc: t.answer(), Width: width, Height: height, Plot: plot,
		XTitle: t.SentenceFor(t.test(), "chart.curves.axis", nil), YTitle: t.SentenceFor(t.test(), "chart.round_trip", nil),
	}
	for _, v := range at {
		c.YTicks = append(c.YTicks, tick{At: y.at(v), Text: timeText(v)})
	}
	for _, p := range []struct {
		nines float64
		text  string
	}{{0, "0"}, {math.Log10(2), "50"}, {1, "90"}, {2, "99"}, {3, "99.9"}, {4, "99.99"}, {5, "99.999"}} {
		if p.nines <= nines+1e-9 {
			c.XTicks = append(c.XTicks, tick{At: x.at(p.nines), Text: p.text})
		}
	}
	c.XTicks = anchors(c.XTicks, width)
	for _, r := range rows {
		h := r.Histogram(measure.RoundTrips)
		end := reach(h)
		var points [][2]float64
		for i := range curvePoints + 1 {
			n := end * float64(i) / curvePoints
			points = append(points, [2]float64{x.at(n), y.at(float64(h.Percentile(100 * (1 - math.Pow(10, -n)))))})
		}
		figure := func(m *measure.Metric) string { return t.Figure(m, r.figure(m).Value) }
		c.Lines = append(c.Lines, shape{
			Class: "curve", Series: series[r.Pattern], D: path(points),
			Title: t.Sentence("chart.curves.pattern", text.Args{
				"Pattern": r.Pattern, "P50": figure(measure.MetricRTTP50), "P99": figure(measure.MetricRTTP99), "P999": figure(measure.MetricRTTP999),
			}),
		})
	}
	return c
}

// reach is how many nines of percentile a histogram has values for.
func reach(h *measure.Histogram) float64 {
	return min(max(math.Log10(float64(h.Count())), math.Log10(2)), mostNines)
}
