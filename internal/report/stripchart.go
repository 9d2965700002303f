package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"soku/internal/measure"
	"soku/internal/report/outline"
	"soku/internal/report/plot"
	"soku/internal/stats"
	"soku/internal/text"
)

const stripRow = 42

// stripFigure draws the basis figure of every trial, a strip a pattern, best
// first: each trial a dot, the estimate a bar, its 95 % interval a band.
func (t testView) stripFigure(id string) *outline.Figure {
	if len(t.drawn()) == 0 {
		return nil
	}
	f := plot.InBothWidths(id, func(width float64) *plot.Plot { return t.strip(width) })
	f.Caption = t.Sentence("chart.trials.caption", text.Args{
		"Interval": slices.ContainsFunc(t.Ranking, func(p Place) bool { return p.Low != nil }),
		"Cut":      slices.ContainsFunc(f.Charts[0].Lines, func(s outline.Shape) bool { return s.Class == "cut" }),
		"Shown":    len(t.pictured()), "All": len(t.drawn()), "Best": bestPictured, "Last": lastPictured,
		"Hollow": slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Confidence.Medium+r.Confidence.Low > 0 }),
		"Marked": slices.ContainsFunc(t.pictured(), func(r *Row) bool { return len(r.marked(len(t.pictured()))) < len(r.Values) }),
		"Limit":  slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Limit(t.Basis.Metric) != nil }),
	})
	return &f
}

// marked are the trials of a row that have a mark: all, or of many evenly spaced ones from the lowest to
// the highest.
func (r *Row) marked(rows int) []Value {
	most := max(mostMarks/rows, leastPoints)
	if len(r.Values) <= most {
		return r.Values
	}
	return evenly(slices.SortedFunc(slices.Values(r.Values), func(a, b Value) int { return cmp.Compare(a.Value, b.Value) }), most)
}

func (t testView) strip(width float64) *plot.Plot {
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
	box := outline.Box{Left: 8, Top: 20, Right: width - 8, Bottom: 20 + stripRow*float64(len(rows))}
	unit := scaleFor(formOf(t.Basis.Metric.Quantity).scales, high/2)
	x := plot.Linear(low, high, box.Left, box.Right, int(width/80)).Labelled(ticksIn(unit))
	p := plot.New(plot.Frame{
		Title: t.Sentence("chart.trials.title", text.Args{"Heading": t.heading()}), Desc: t.stripContent(rows), Width: width, Height: box.Bottom + 40, Box: box,
		XTitle: t.Sentence("chart.trials.axis", text.Args{"Noun": t.noun(), "Unit": t.unit(unit), "Cut": x.Low > 0}),
	}, x, plot.Axis{})
	t.sayBetter(p, t.Basis.Metric)
	for i, r := range rows {
		t.stripRow(p, r, t.hues.of(r.Levels), box.Top+stripRow*float64(i))
	}
	return p
}

func (t testView) stripRow(p *plot.Plot, r *Row, s int, top float64) {
	middle := top + 28
	place := cmp.Or(t.place(r.Pattern), &Place{})
	estimate := ""
	if place.Estimate != nil {
		estimate = t.value(*place.Estimate)
	}
	interval, cut := "", false
	if place.Low != nil && place.High != nil {
		interval = t.Sentence("chart.trials.interval", text.Args{"Pattern": r.Pattern, "Low": t.value(*place.Low), "High": t.value(*place.High)})
		cut = *place.Low < p.X.Low || *place.High > p.X.High
	}
	room := 100.0 // of the estimate
	if cut && p.Width == plot.Wide {
		room = 300
		estimate = t.Sentence("chart.trials.cut", text.Args{"Estimate": estimate, "Low": t.value(*place.Low), "High": t.value(*place.High)})
	}
	name := r.Pattern
	if place.Rank > 0 && len(t.Ranking) > 1 {
		name = fmt.Sprintf("%d  %s", place.Rank, name)
	}
	p.RowTitle(top, name, r.Pattern, estimate, room)
	least, most := math.Inf(1), math.Inf(-1)
	for _, v := range r.marked(len(t.pictured())) {
		least, most = min(least, v.Value), max(most, v.Value)
		class := "dot"
		if v.Confidence == measure.Medium || v.Confidence == measure.Low {
			class = "dot hollow"
		}
		p.Mark(class, s, v.Value, middle, t.trialTitle(r.Pattern, v))
	}
	p.Span(s, least, most, middle)
	if interval != "" {
		p.Interval(*place.Low, *place.High, middle, 7, s, interval)
	}
	if l := r.Limit(t.Basis.Metric); l != nil {
		p.Stroke("limit", 0, l.Value, middle-11, middle+11, t.limitTitle(r.Pattern, l))
	}
	if place.Estimate != nil {
		p.Stroke("mean", s, *place.Estimate, middle-9, middle+9, t.Sentence("chart.trials.estimate", text.Args{"Pattern": r.Pattern, "Estimate": t.value(*place.Estimate)}))
	}
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
