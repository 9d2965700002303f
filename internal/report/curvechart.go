package report

import (
	"math"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/report/outline"
	"soku/internal/report/plot"
	"soku/internal/text"
)

const (
	mostCurves  = outline.Hues // more would be a tangle, and of one colour have one dash; the best are drawn
	curvePoints = 60
	mostNines   = 5 // the scale ends at 99.999 %
)

// curveFigure draws the merged round trips of each pattern as a curve of
// percentiles, stretched towards the slow end where they differ.
func (t testView) curveFigure(id string) *outline.Figure {
	drawn, all := t.withRoundTrips()
	if all == 0 {
		return nil
	}
	dashes := t.dashes(drawn)
	f := plot.InBothWidths(id, func(width float64) *plot.Plot { return t.curves(drawn, width, dashes) })
	f.Caption = t.SentenceFor(t.test(), "chart.curves.caption", text.Args{"Best": len(drawn), "All": all})
	for i, r := range drawn {
		f.Legend = append(f.Legend, outline.Legend{Series: t.hues.of(r.Levels), Dash: dashes[i], Text: r.Pattern})
	}
	return &f
}

// withRoundTrips are the patterns that have a curve, best first, and the number of all that could
// have one.
func (t testView) withRoundTrips() (drawn []*Row, all int) {
	for _, r := range t.drawn() {
		if r.Histogram(metric.RoundTrips) != nil {
			drawn = append(drawn, r)
		}
	}
	return drawn[:min(len(drawn), mostCurves)], len(drawn)
}

// dashes are those of the curves of patterns: none has the dashes of another with its colour.
func (t testView) dashes(rows []*Row) (out []int) {
	drawn := map[int]int{} // curves of a colour
	for _, r := range rows {
		hue := t.hues.of(r.Levels)
		out = append(out, (hue+drawn[hue])%outline.Hues)
		drawn[hue]++
	}
	return out
}

func (t testView) curves(rows []*Row, width float64, dashes []int) *plot.Plot {
	low, high, nines := math.Inf(1), 0.0, 1.0
	for _, r := range rows {
		h := r.Histogram(metric.RoundTrips)
		low, high = min(low, float64(h.Min())), max(high, float64(h.Max()))
		nines = max(nines, reach(h))
	}
	height := 320.0
	if width == plot.Narrow {
		height = 260
	}
	box := outline.Box{Left: 58, Top: 22, Right: width - 10, Bottom: height - 42}
	x := plot.Axis{Low: 0, High: nines, From: box.Left, To: box.Right}
	for _, m := range []plot.Mark{
		{At: 0, Text: "0"}, {At: math.Log10(2), Text: "50"}, {At: 1, Text: "90"}, {At: 2, Text: "99"}, {At: 3, Text: "99.9"}, {At: 4, Text: "99.99"}, {At: 5, Text: "99.999"},
	} {
		if m.At <= nines+1e-9 {
			x.Marks = append(x.Marks, m)
		}
	}
	p := plot.New(plot.Frame{
		Title: t.SentenceFor(t.test(), "chart.curves.title", text.Args{"Heading": t.heading()}), Desc: t.percentileContent(rows), Width: width, Height: height, Box: box,
		XTitle: t.SentenceFor(t.test(), "chart.curves.axis", nil), YTitle: t.SentenceFor(t.test(), "chart.round_trip", nil),
	}, x, plot.Log(low, high, box.Bottom, box.Top, 8).Labelled(timeText))
	t.sayBetter(p, metric.RTTP50)
	for k, r := range rows {
		h := r.Histogram(metric.RoundTrips)
		end := reach(h)
		var points [][2]float64
		for i := range curvePoints + 1 {
			n := end * float64(i) / curvePoints
			points = append(points, [2]float64{p.X.At(n), p.Y.At(float64(h.Percentile(100 * (1 - math.Pow(10, -n)))))})
		}
		figure := func(m *metric.Definition) string {
			if f := r.figure(m); f != nil {
				return t.Figure(m, f.Value)
			}
			return "" // too few round trips
		}
		p.Dashed(t.hues.of(r.Levels), dashes[k], t.Sentence("chart.curves.pattern", text.Args{
			"Pattern": r.Pattern, "P50": figure(metric.RTTP50), "P99": figure(metric.RTTP99), "P999": figure(metric.RTTP999),
		}), points...)
	}
	return p
}

// reach is how many nines of percentile the count of a histogram supports: at least the median.
func reach(h *measure.Histogram) float64 {
	return min(max(math.Log10(float64(h.Count())/measure.LeastBeyond), math.Log10(2)), mostNines)
}
