package report

import (
	"fmt"
	"math"
	"slices"

	"soku/internal/measure"
	"soku/internal/text"
)

const loadRow = 58

// Share of the round trips that the bars of a load chart leave out at either end, %.
const (
	barFrom = 5
	barTo   = 99
)

// loadFigure draws the round trips of each pattern without and beside the load,
// in the order of the ranking.
func (t testView) loadFigure(id string, series map[string]int) (figure, bool) {
	var rows []*Row
	for _, r := range t.pictured() {
		if r.underLoad() {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return figure{}, false
	}
	f := figure{Caption: t.Sentence("chart.load.caption", text.Args{"From": barFrom, "To": barTo})}
	for _, v := range []struct {
		class string
		width float64
	}{{"wide", wideChart}, {"narrow", narrowChart}} {
		c := t.load(rows, v.width, series)
		c.ID, c.Class = id+"-"+v.class, v.class
		f.Charts = append(f.Charts, c)
	}
	return f, true
}

func (t testView) load(rows []*Row, width float64, series map[string]int) chart {
	low, high := math.Inf(1), 0.0
	for _, r := range rows {
		for _, d := range []*measure.Distribution{measure.IdleRoundTrips, measure.LoadedRoundTrips} {
			if h := r.Histogram(d); h != nil {
				low, high = min(low, percentile(h, barFrom)), max(high, percentile(h, barTo))
			}
		}
	}
	plot := box{Left: 8, Top: 4, Right: width - 8, Bottom: 4 + loadRow*float64(len(rows))}
	ax, at := logAxis(low, high, plot.Left, plot.Right, int(width/70))
	c := chart{
		Title: t.Sentence("chart.load.title", text.Args{"Heading": t.heading()}), Width: width, Height: plot.Bottom + 40, Plot: plot, XTitle: t.SentenceFor(t.test(), "chart.round_trip", nil),
	}
	for _, v := range at {
		c.XTicks = append(c.XTicks, tick{At: ax.at(v), Text: timeText(v)})
	}
	c.XTicks = anchors(c.XTicks, width)
	for i, r := range rows {
		top := plot.Top + loadRow*float64(i)
		value := ""
		if s := r.figure(measure.MetricRPM); s != nil {
			value = t.Sentence("chart.load.value", text.Args{"RPM": s.Value})
		}
		c.Texts = append(c.Texts,
			chartText{X: plot.Left, Y: top + 14, Anchor: "start", Class: "name", Text: cutTo(r.Pattern, plot.Right-plot.Left-90), Title: r.Pattern},
			chartText{X: plot.Right, Y: top + 14, Anchor: "end", Class: "value", Text: value})
		if h := r.Histogram(measure.IdleRoundTrips); h != nil {
			c.addRoundTrips(t.Sentence("chart.load.idle", barArgs(r, h)), "interval", h, ax, series[r.Pattern], top+22)
		}
		if h := r.Histogram(measure.LoadedRoundTrips); h != nil {
			c.addRoundTrips(t.Sentence("chart.load.loaded", barArgs(r, h)), "loaded", h, ax, series[r.Pattern], top+37)
		}
	}
	return c
}

func percentile(h *measure.Histogram, p float64) float64 { return float64(h.Percentile(p)) }

func barArgs(r *Row, h *measure.Histogram) text.Args {
	return text.Args{"Pattern": r.Pattern, "P50": percentile(h, 50), "P99": percentile(h, 99), "Max": h.Max()}
}

func (c *chart) addRoundTrips(title, class string, h *measure.Histogram, ax axis, color int, top float64) {
	const height = 12
	from, to, middle := ax.at(percentile(h, barFrom)), ax.at(percentile(h, barTo)), ax.at(percentile(h, 50))
	c.Bands = append(c.Bands, shape{Class: class, Series: color, X: from, Y: top, W: max(to-from, 1), H: height, Title: title})
	c.Lines = append(c.Lines, shape{Class: "mean", Series: color, D: path([][2]float64{{middle, top}, {middle, top + height}}), Title: title})
}

// loadOverTime draws the round trips before, beside and after the load, a panel a
// pattern on common axes.
func (t testView) loadOverTime(id string, series map[string]int) []figure {
	low, high, end := math.Inf(1), 0.0, 0.0
	for _, r := range t.Rows {
		for _, s := range r.loads {
			end = max(end, s.to)
			for _, p := range slices.Concat(s.parts...) {
				if p.value > 0 {
					low = min(low, p.value)
				}
				high, end = max(high, p.value, p.high), max(end, p.at)
			}
		}
	}
	if math.IsInf(low, 1) {
		return nil
	}
	plot := box{Left: 58, Top: 8, Right: panelWidth - 8, Bottom: panelHeight - 36}
	x, xAt := exactAxis(end, plot.Left, plot.Right, 5)
	y, yAt := logAxis(low, high, plot.Bottom, plot.Top, 6)
	var out []figure
	for i, r := range t.panels() {
		if len(r.loads) == 0 {
			continue
		}
		c := chart{
			ID: fmt.Sprintf("%s-%d", id, i), Title: t.Sentence("chart.load_time.title", text.Args{"Pattern": r.Pattern}), Width: panelWidth, Height: panelHeight, Plot: plot,
			XTitle: t.Sentence("chart.time.axis", nil), YTitle: t.SentenceFor(t.test(), "chart.round_trip", nil),
		}
		for _, v := range xAt {
			c.XTicks = append(c.XTicks, tick{At: x.at(v), Text: tickText(v, scale{per: 1})})
		}
		c.XTicks = anchors(c.XTicks, panelWidth)
		for _, v := range yAt {
			c.YTicks = append(c.YTicks, tick{At: y.at(v), Text: timeText(v)})
		}
		c.addLoads(t, r.loads, x, y, series[r.Pattern])
		out = append(out, figure{Caption: r.Pattern, Charts: []chart{c}})
	}
	return out
}

// addLoads draws each trial as lines over the time of the load, which is that of the first.
func (c *chart) addLoads(t testView, trials []loadSeries, x, y axis, color int) {
	first := trials[0]
	c.Bands = append(c.Bands, shape{Class: "load", Series: color, X: x.at(first.from), Y: c.Plot.Top, W: max(x.at(first.to)-x.at(first.from), 1), H: c.Plot.Bottom - c.Plot.Top, Title: t.Sentence("chart.load_time.load", nil)})
	for _, s := range trials {
		for _, part := range s.parts {
			c.Lines = append(c.Lines, t.timeLines(lineOf(s, part), x, y, color)...)
		}
	}
}

func lineOf(s loadSeries, part []point) series {
	return series{round: s.round, repeat: s.repeat, points: part}
}
