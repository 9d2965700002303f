package report

import (
	"fmt"
	"math"
	"slices"

	"soku/internal/text"
)

const (
	sweepHeight = 280 // of the chart of one curve
	sweepPanel  = 200 // of one of several
	mostSweeps  = 24  // panels
)

// sweepFigures draw the curves of a test: a wide and a narrow chart of one, or a panel for each
// of several on common axes.
func (t testView) sweepFigures(id string) (one *figure, panels []figure) {
	all := t.allCurves()
	switch len(all) {
	case 0:
		return nil, nil
	case 1:
		f := figure{Caption: t.Sentence("curve.caption", text.Args{"Interval": all[0].Points[0].Low != nil, "Knee": all[0].Knee != nil, "Plateau": all[0].Low != nil})}
		for _, v := range []struct {
			class string
			width float64
		}{{"wide", wideChart}, {"narrow", narrowChart}} {
			c := t.sweep(all[0], all, v.width, sweepHeight)
			c.ID, c.Class = id+"-"+v.class, v.class
			f.Charts = append(f.Charts, c)
		}
		return &f, nil
	}
	implied := t.impliedLevels()
	for i, c := range all[:min(len(all), mostSweeps)] {
		drawn := t.sweep(c, all, panelWidth, sweepPanel)
		drawn.ID = fmt.Sprintf("%s-%d", id, i)
		panels = append(panels, figure{Caption: t.levelsText(implied.telling(c.Levels)), Charts: []chart{drawn}})
	}
	return nil, panels
}

// sweep draws one curve on axes that all have in common.
func (t testView) sweep(c Curve, all []Curve, width, height float64) chart {
	plot := box{Left: 58, Top: 20, Right: width - 14, Bottom: height - 42}
	var xs, ys []float64
	for _, o := range all {
		for _, p := range o.Points {
			xs, ys = append(xs, p.Value), append(ys, p.Estimate)
			for _, v := range []*float64{p.High, p.Limit} {
				if v != nil {
					ys = append(ys, *v)
				}
			}
		}
	}
	slices.Sort(xs)
	xs = slices.Compact(xs)
	x := axis{low: xs[0], high: xs[len(xs)-1], from: plot.Left + 8, to: plot.Right - 8, log: spreadByFactors(xs)}
	high := slices.Max(ys)
	var y axis
	var at []float64
	unit := scaleFor(formOf(t.Basis.Metric.Quantity).scales, high/2)
	if t.Basis.isTime() {
		low := high
		for _, o := range all {
			for _, p := range o.Points {
				low = min(low, p.Estimate)
			}
		}
		y, at = logAxis(low, high, plot.Bottom, plot.Top, 6)
	} else {
		y, at = exactAxis(high*1.05, plot.Bottom, plot.Top, 5)
	}
	out := chart{
		Title: t.Sentence("curve.title", text.Args{"Heading": t.heading(), "Option": c.Option, "Levels": t.levelsText(c.Levels)}), Desc: t.levelsOff(c), Width: width, Height: height, Plot: plot,
		XTitle: t.Sentence("curve.axis", text.Args{"Option": c.Option, "Log": x.log}), YTitle: t.Sentence("curve.figure", text.Args{"Noun": t.estimate(), "Unit": t.unit(unit)}),
	}
	for _, p := range c.Points {
		out.XTicks = append(out.XTicks, tick{At: x.at(p.Value), Text: p.Level})
	}
	out.XTicks = anchors(out.XTicks, width)
	for _, v := range at {
		label := tickText(v, unit)
		if t.Basis.isTime() {
			label = timeText(v)
		}
		out.YTicks = append(out.YTicks, tick{At: y.at(v), Text: label})
	}
	t.addLimitLine(&out, c, x, y)
	t.addPlateau(&out, c, x, y)
	t.addCurve(&out, c, x, y)
	return out
}

// addCurve draws the points with their intervals, and the line between them.
func (t testView) addCurve(out *chart, c Curve, x, y axis) {
	var line [][2]float64
	for _, p := range c.Points {
		at := x.at(p.Value)
		line = append(line, [2]float64{at, y.at(p.Estimate)})
		args := text.Args{"Option": c.Option, "Level": p.Level, "Value": t.value(p.Estimate), "Interval": ""}
		if p.Low != nil && p.High != nil {
			low, high := y.at(*p.Low), y.at(*p.High)
			out.Lines = append(out.Lines, shape{Class: "whisker", D: path([][2]float64{{at, low}, {at, high}}) + path([][2]float64{{at - 4, low}, {at + 4, low}}) + path([][2]float64{{at - 4, high}, {at + 4, high}})})
			args["Interval"] = t.between(t.value(*p.Low), t.value(*p.High))
		}
		out.Marks = append(out.Marks, shape{Class: "dot", X: at, Y: y.at(p.Estimate), Title: t.Sentence("curve.point", args)})
	}
	out.Lines = append(out.Lines, shape{Class: "curve", D: path(line)})
}

// addLimitLine draws the documented limit of the figure, where levels have one.
func (t testView) addLimitLine(out *chart, c Curve, x, y axis) {
	var line [][2]float64
	title := ""
	for _, p := range c.Points {
		if p.Limit != nil {
			line = append(line, [2]float64{x.at(p.Value), y.at(*p.Limit)})
			title = t.Sentence("curve.limit", text.Args{"Limit": t.value(*p.Limit)})
		}
	}
	if len(line) == 0 {
		return
	}
	out.Lines = append(out.Lines, shape{Class: "limit", D: path(line), Title: title})
	last := line[len(line)-1]
	out.Texts = append(out.Texts, chartText{X: out.Plot.Right, Y: last[1] - 5, Anchor: "end", Class: "value", Text: title})
}

// addPlateau draws the plateau as a band from the knee on, and the knee.
func (t testView) addPlateau(out *chart, c Curve, x, y axis) {
	knee := c.knee()
	if knee == nil || c.Plateau == nil || c.Rising {
		return
	}
	from, top := x.at(knee.Value), y.at(*c.Plateau)
	title := t.levelsOff(c)
	if c.Low != nil && c.High != nil {
		above, below := y.at(*c.High), y.at(*c.Low)
		out.Bands = append(out.Bands, shape{Class: "interval", X: from, Y: above, W: max(out.Plot.Right-from, 1), H: max(below-above, 1), Title: title})
	}
	out.Lines = append(out.Lines,
		shape{Class: "plateau", D: path([][2]float64{{from, top}, {out.Plot.Right, top}}), Title: title},
		shape{Class: "knee", D: path([][2]float64{{from, out.Plot.Bottom}, {from, top}}), Title: title})
	label := chartText{X: from + 6, Y: out.Plot.Bottom - 8, Anchor: "start", Class: "value", Text: t.Sentence("curve.knee", text.Args{"Level": knee.Level}), Title: title}
	if from > (out.Plot.Left+out.Plot.Right)/2 {
		label.X, label.Anchor = from-6, "end"
	}
	out.Texts = append(out.Texts, label)
}

// spreadByFactors reports whether ascending numbers are spread more evenly by their logarithms
// than by themselves.
func spreadByFactors(xs []float64) bool {
	if xs[0] <= 0 {
		return false
	}
	uneven := func(at func(float64) float64) float64 {
		least, most := math.Inf(1), 0.0
		for i := 1; i < len(xs); i++ {
			gap := at(xs[i]) - at(xs[i-1])
			least, most = min(least, gap), max(most, gap)
		}
		return most / least
	}
	return uneven(math.Log) < uneven(func(v float64) float64 { return v })
}
