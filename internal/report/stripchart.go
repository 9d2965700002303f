package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"soku/internal/measure"
	"soku/internal/stats"
	"soku/internal/text"
)

// Widths of the two variants of a full-width chart: a page shows the one that
// keeps its text readable.
const (
	wideChart   = 720
	narrowChart = 328
)

const stripRow = 42

// stripFigure draws the basis figure of every trial, a strip a pattern, best
// first: each trial a dot, the estimate a bar, its 95 % interval a band.
func (t testView) stripFigure(id string, series map[string]int) (figure, bool) {
	if len(t.drawn()) == 0 {
		return figure{}, false
	}
	f := figure{}
	for _, v := range []struct {
		class string
		width float64
	}{{"wide", wideChart}, {"narrow", narrowChart}} {
		c := t.strip(v.width, series)
		c.ID, c.Class = id+"-"+v.class, v.class
		f.Charts = append(f.Charts, c)
	}
	f.Caption = t.Sentence("chart.trials.caption", text.Args{
		"Interval": slices.ContainsFunc(t.Ranking, func(p Place) bool { return p.Low != nil }),
		"Cut":      slices.ContainsFunc(f.Charts[0].Lines, func(s shape) bool { return s.Class == "cut" }),
		"Shown":    len(t.pictured()), "All": len(t.drawn()), "Best": bestShown, "Last": lastShown,
		"Hollow": slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Confidence.Medium+r.Confidence.Low > 0 }),
		"Limit":  slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Limit(t.Basis.Metric) != nil }),
	})
	return f, true
}

func (t testView) strip(width float64, series map[string]int) chart {
	rows := t.pictured()
	var all []float64
	for _, r := range rows {
		for _, v := range r.Values {
			all = append(all, v.Value)
		}
		if l := r.Limit(t.Basis.Metric); l != nil {
			all = append(all, l.Value)
		}
	}
	low, high := stats.Range(all)
	plot := box{Left: 8, Top: 4, Right: width - 8, Bottom: 4 + stripRow*float64(len(rows))}
	ax, at := linearAxis(low, high, plot.Left, plot.Right, int(width/80))
	unit := scaleFor(formOf(t.Basis.Metric.Quantity).scales, high/2)
	c := chart{
		Title: t.Sentence("chart.trials.title", text.Args{"Heading": t.heading()}), Desc: t.answer(), Width: width, Height: plot.Bottom + 40, Plot: plot,
		XTitle: t.Sentence("chart.trials.axis", text.Args{"Noun": t.noun(), "Unit": t.unit(unit), "Cut": ax.low > 0}),
	}
	for _, v := range at {
		c.XTicks = append(c.XTicks, tick{At: ax.at(v), Text: tickText(v, unit)})
	}
	c.XTicks = anchors(c.XTicks, width)
	for i, r := range rows {
		t.stripRow(&c, ax, r, series[r.Pattern], plot.Top+stripRow*float64(i))
	}
	return c
}

func (t testView) stripRow(c *chart, ax axis, r *Row, s int, top float64) {
	middle := top + 28
	place := cmp.Or(t.place(r.Pattern), &Place{})
	estimate := ""
	if place.Estimate != nil {
		estimate = t.value(*place.Estimate)
	}
	interval, cut := "", false
	if place.Low != nil && place.High != nil {
		interval = t.Sentence("chart.trials.interval", text.Args{"Pattern": r.Pattern, "Low": t.value(*place.Low), "High": t.value(*place.High)})
		cut = *place.Low < ax.low || *place.High > ax.high
	}
	room := 100.0 // of the estimate
	if cut && c.Width == wideChart {
		room = 300
		estimate = t.Sentence("chart.trials.cut", text.Args{"Estimate": estimate, "Low": t.value(*place.Low), "High": t.value(*place.High)})
	}
	name := r.Pattern
	if place.Rank > 0 && len(t.Ranking) > 1 {
		name = fmt.Sprintf("%d  %s", place.Rank, name)
	}
	c.Texts = append(c.Texts,
		chartText{X: c.Plot.Left, Y: top + 14, Anchor: "start", Class: "name", Text: cutTo(name, c.Plot.Right-c.Plot.Left-room), Title: r.Pattern},
		chartText{X: c.Plot.Right, Y: top + 14, Anchor: "end", Class: "value", Text: estimate})
	least, most := math.Inf(1), math.Inf(-1)
	for _, v := range r.Values {
		least, most = min(least, v.Value), max(most, v.Value)
		class := "dot"
		if v.Confidence == measure.Medium || v.Confidence == measure.Low {
			class = "dot hollow"
		}
		c.Marks = append(c.Marks, shape{Class: class, Series: s, X: ax.at(v.Value), Y: middle, Title: t.trialTitle(r.Pattern, v)})
	}
	c.Lines = append(c.Lines, shape{Class: "span", Series: s, D: path([][2]float64{{ax.at(least), middle}, {ax.at(most), middle}})})
	if interval != "" {
		from, to := ax.at(*place.Low), ax.at(*place.High)
		c.Bands = append(c.Bands, shape{Class: "interval", Series: s, X: from, Y: middle - 7, W: max(to-from, 1), H: 14, Title: interval})
		if *place.Low < ax.low {
			c.Lines = append(c.Lines, arrow(from, middle, -1, s, interval))
		}
		if *place.High > ax.high {
			c.Lines = append(c.Lines, arrow(to, middle, 1, s, interval))
		}
	}
	if l := r.Limit(t.Basis.Metric); l != nil {
		c.Lines = append(c.Lines, shape{Class: "limit", D: path([][2]float64{{ax.at(l.Value), middle - 11}, {ax.at(l.Value), middle + 11}}), Title: t.limitTitle(r.Pattern, l)})
	}
	if place.Estimate != nil {
		x := ax.at(*place.Estimate)
		c.Lines = append(c.Lines, shape{Class: "mean", Series: s, D: path([][2]float64{{x, middle - 9}, {x, middle + 9}}), Title: t.Sentence("chart.trials.estimate", text.Args{"Pattern": r.Pattern, "Estimate": t.value(*place.Estimate)})})
	}
}

// arrow marks the end of an axis beyond which an interval goes on, to the right or, with
// -1, to the left.
func arrow(x, y, direction float64, series int, title string) shape {
	return shape{Class: "cut", Series: series, D: path([][2]float64{{x - 7*direction, y - 7}, {x, y}, {x - 7*direction, y + 7}}), Title: title}
}

func (t testView) trialTitle(pattern string, v Value) string {
	args := text.Args{"Pattern": pattern, "Round": v.Round, "Repeat": v.Repeat, "Result": "", "Value": t.value(v.Value), "Confidence": ""}
	if t.ByHand {
		args["Result"] = v.Result
	}
	if key := "confidence." + string(v.Confidence); v.Confidence != "" && t.Has(key) {
		args["Confidence"] = t.Sentence("confidence."+string(v.Confidence), nil)
	}
	return t.Sentence("chart.trials.trial", args)
}
