package report

import (
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
	f := inBothWidths(id, func(width float64) *plot { return t.load(rows, width, series) })
	f.Caption = t.Say("chart.load.caption", text.Args{"From": barFrom, "To": barTo})
	return f, true
}

func (t testView) load(rows []*Row, width float64, series map[string]int) *plot {
	low, high := math.Inf(1), 0.0
	for _, r := range rows {
		for _, d := range []*measure.Distribution{measure.IdleRoundTrips, measure.LoadedRoundTrips} {
			if h := r.Histogram(d); h != nil {
				low, high = min(low, percentile(h, barFrom)), max(high, percentile(h, barTo))
			}
		}
	}
	box := box{Left: 8, Top: 4, Right: width - 8, Bottom: 4 + loadRow*float64(len(rows))}
	p := newPlot(frame{
		title: t.Say("chart.load.title", text.Args{"Heading": t.heading()}), width: width, height: box.Bottom + 40, box: box, xTitle: t.SayFor(t.test(), "chart.round_trip", nil),
	}, logAxis(low, high, box.Left, box.Right, int(width/70)).labels(timeText), axis{})
	for i, r := range rows {
		top := box.Top + loadRow*float64(i)
		value := ""
		if s := r.figure(measure.MetricRPM); s != nil {
			value = t.Say("chart.load.value", text.Args{"RPM": s.Value})
		}
		p.rowTitle(top, r.Pattern, r.Pattern, value, 90)
		if h := r.Histogram(measure.IdleRoundTrips); h != nil {
			p.addRoundTrips(t.Say("chart.load.idle", barArgs(r, h)), "interval", h, series[r.Pattern], top+22)
		}
		if h := r.Histogram(measure.LoadedRoundTrips); h != nil {
			p.addRoundTrips(t.Say("chart.load.loaded", barArgs(r, h)), "loaded", h, series[r.Pattern], top+37)
		}
	}
	return p
}

func percentile(h *measure.Histogram, p float64) float64 { return float64(h.Percentile(p)) }

func barArgs(r *Row, h *measure.Histogram) text.Args {
	return text.Args{"Pattern": r.Pattern, "P50": percentile(h, 50), "P99": percentile(h, 99), "Max": h.Max()}
}

func (p *plot) addRoundTrips(title, class string, h *measure.Histogram, color int, top float64) {
	const height = 12
	p.band(class, color, percentile(h, barFrom), percentile(h, barTo), top, height, title)
	p.stroke("mean", color, percentile(h, 50), top, top+height, title)
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
	x := exactAxis(end, panelBox.Left, panelBox.Right, 5).in(one)
	y := logAxis(low, high, panelBox.Bottom, panelBox.Top, 6).labels(timeText)
	var out []figure
	for i, r := range t.panels() {
		if len(r.loads) == 0 {
			continue
		}
		p := t.overTime(t.Say("chart.load_time.title", text.Args{"Pattern": r.Pattern}), t.SayFor(t.test(), "chart.round_trip", nil), panelBox, x, y)
		t.addLoads(p, r.loads, series[r.Pattern])
		out = append(out, panel(id, i, r.Pattern, p))
	}
	return out
}

// addLoads draws each trial as lines over the time of the load, which is that of the first.
func (t testView) addLoads(p *plot, trials []loadSeries, color int) {
	p.band("load", color, trials[0].from, trials[0].to, p.Plot.Top, p.Plot.Bottom-p.Plot.Top, t.Say("chart.load_time.load", nil))
	for _, s := range trials {
		for _, part := range s.parts {
			t.timeLines(p, series{round: s.round, repeat: s.repeat, points: part}, color)
		}
	}
}
