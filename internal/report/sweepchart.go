package report

import (
	"math"
	"slices"

	"soku/internal/measure/metric"
	"soku/internal/report/outline"
	"soku/internal/report/plot"
	"soku/internal/text"
)

const (
	sweepHeight = 300 // of the chart of one curve
	sweepPanel  = 220 // of one of several
	mostSweeps  = 24  // panels
)

// sweepCharts draws the curves of a test: a wide and a narrow chart of one, or a panel for each
// of several on common axes. It returns nil without curves.
func (t testView) sweepCharts(id string) *outline.Charts {
	all := t.allCurves()
	switch len(all) {
	case 0:
		return nil
	case 1:
		f := plot.InBothWidths(id, func(width float64) *plot.Plot { return t.sweep(all[0], all, width, sweepHeight) })
		f.Caption = t.Sentence("curve.caption", text.Args{"Interval": all[0].Points[0].Low != nil, "Knee": all[0].Knee != nil, "Plateau": all[0].Low != nil})
		return &outline.Charts{Figures: []outline.Figure{f}}
	}
	implied := t.impliedLevels()
	charts := &outline.Charts{Panels: true}
	for i, c := range all[:min(len(all), mostSweeps)] {
		charts.Figures = append(charts.Figures, t.sweep(c, all, plot.Panel, sweepPanel).OfSeveral(id, i, t.levelsText(implied.telling(c.Levels))))
	}
	return charts
}

// sweep draws one curve. All have the horizontal axis in common, and the vertical one unless their
// limits differ. Texts are above the plot, where they cover nothing.
func (t testView) sweep(c Curve, all []Curve, width, height float64) *plot.Plot {
	box := outline.Box{Left: 58, Top: 40, Right: width - 14, Bottom: height - 42}
	var xs, ys []float64
	low := math.Inf(1)
	for _, o := range all {
		for _, p := range o.Points {
			xs = append(xs, p.Value)
		}
	}
	if limitsDiffer(all) {
		all = []Curve{c}
	}
	for _, o := range all {
		for _, p := range o.Points {
			ys, low = append(ys, p.Estimate), min(low, p.Estimate)
			for _, v := range []*float64{p.High, p.Limit} {
				if v != nil {
					ys = append(ys, *v)
				}
			}
		}
	}
	slices.Sort(xs)
	xs = slices.Compact(xs)
	x := plot.Axis{Low: xs[0], High: xs[len(xs)-1], From: box.Left + 8, To: box.Right - 8, Log: spreadByFactors(xs)}
	for _, p := range c.Points {
		x.Marks = append(x.Marks, plot.Mark{At: p.Value, Text: p.Level})
	}
	y, unit := t.basisAxis(low, slices.Max(ys), box, 5)
	p := plot.New(plot.Frame{
		Title: t.Sentence("curve.title", text.Args{"Heading": t.heading(), "Option": c.Option, "Levels": t.levelsText(c.Levels)}), Desc: t.sweepContent(c), Width: width, Height: height, Box: box,
		XTitle: t.Sentence("curve.axis", text.Args{"Option": c.Option, "Log": x.Log}), YTitle: t.Sentence("curve.figure", text.Args{"Noun": t.estimate(), "Unit": t.unit(unit)}),
	}, x, y)
	p.Label(box.Left, 13, "start", "small", t.Sentence("chart.better", text.Args{"Higher": t.Basis.Metric.Better == metric.Higher}), "")
	t.addLimitLine(p, c)
	t.addPlateau(p, c)
	t.addCurve(p, c)
	return p
}

// limitsDiffer reports whether points of curves have different documented limits, or only some have one.
func limitsDiffer(all []Curve) bool {
	limits := map[float64]bool{}
	for _, c := range all {
		for _, p := range c.Points {
			if p.Limit == nil {
				limits[0] = true
			} else {
				limits[*p.Limit] = true
			}
		}
	}
	return len(limits) > 1
}

// addCurve draws the points with their intervals, and the line between them.
func (t testView) addCurve(out *plot.Plot, c Curve) {
	var line [][2]float64
	hue := t.hues.of(c.Levels)
	for _, p := range c.Points {
		line = append(line, [2]float64{out.X.At(p.Value), out.Y.At(p.Estimate)})
		args := text.Args{"Option": c.Option, "Level": p.Level, "Value": t.value(p.Estimate), "Interval": ""}
		if p.Low != nil && p.High != nil {
			out.Whisker(hue, p.Value, *p.Low, *p.High)
			args["Interval"] = t.between(t.value(*p.Low), t.value(*p.High))
		}
		out.Mark("dot", hue, p.Value, out.Y.At(p.Estimate), t.Sentence("curve.point", args))
	}
	out.Dashed(hue, 0, "", line...)
}

// addLimitLine draws the documented limit of the figure, where levels have one.
func (t testView) addLimitLine(out *plot.Plot, c Curve) {
	var line [][2]float64
	title := ""
	for _, p := range c.Points {
		if p.Limit != nil {
			line = append(line, [2]float64{out.X.At(p.Value), out.Y.At(*p.Limit)})
			title = t.Sentence("curve.limit", text.Args{"Limit": t.value(*p.Limit)})
		}
	}
	if len(line) == 0 {
		return
	}
	out.Line("limit", 0, title, line...)
	out.Label(out.Plot.Right, 13, "end", "small", title, title)
}

// addPlateau draws the plateau as a band from the knee on, and the knee.
func (t testView) addPlateau(out *plot.Plot, c Curve) {
	knee := c.knee()
	if knee == nil || c.Plateau == nil || c.Rising {
		return
	}
	hue := t.hues.of(c.Levels)
	from, top := out.X.At(knee.Value), out.Y.At(*c.Plateau)
	title := t.levelsOff(c)
	if c.Low != nil && c.High != nil {
		above, below := out.Y.At(*c.High), out.Y.At(*c.Low)
		out.Bands = append(out.Bands, outline.Shape{Class: "interval", Series: hue, X: from, Y: above, W: max(out.Plot.Right-from, 1), H: max(below-above, 1), Title: title})
	}
	out.Line("plateau", hue, title, [2]float64{from, top}, [2]float64{out.Plot.Right, top})
	out.Line("knee", 0, title, [2]float64{from, out.Plot.Bottom}, [2]float64{from, top})
	out.Label(out.Plot.Left, 28, "start", "small", plot.Cut(t.Sentence("curve.knee", text.Args{"Level": knee.Level}), out.Plot.Right-out.Plot.Left), title)
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
