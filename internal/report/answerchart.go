package report

import (
	"slices"
	"strings"

	"soku/internal/report/outline"
	"soku/internal/report/plot"
	"soku/internal/stats"
	"soku/internal/text"
)

const (
	answerLine  = 18  // pixels of a line of marks
	answerTop   = 6   // and above the lines of a row
	answerName  = 16  // of a name above its row
	answerNames = 300 // of the names at the left of a wide chart, at most
	boldPixels  = 8   // of a column of a name
)

// answerFigure draws the estimates of the levels of the asked factor, a row for each combination
// of the other factors' levels.
func (t testView) answerFigure(id string) *outline.Figure {
	a := t.answerRows()
	if len(a.rows) == 0 {
		return nil
	}
	f := plot.InBothWidths(id, func(width float64) *plot.Plot { return t.answerPlot(a, width) })
	f.Legend = a.series()
	f.Caption = t.Sentence("chart.answer.caption", text.Args{
		"Factor": a.factor, "Of": a.of, "Shown": len(a.rows), "All": a.all, "First": bestPictured, "Last": lastPictured,
		"Interval": a.has(answerMark.highFigure), "Limit": a.has(answerMark.limitFigure),
		"Cut": slices.ContainsFunc(f.Charts[0].Lines, func(s outline.Shape) bool { return s.Class == "cut" }),
	})
	return &f
}

// answerAxis spans estimates and limits, and of intervals what is near them.
func (t testView) answerAxis(a answerFigures, from, to, width float64) (plot.Axis, scale) {
	var figures []float64
	for _, r := range a.rows {
		for _, m := range r.marks {
			if figures = append(figures, m.estimate); m.limit != nil {
				figures = append(figures, *m.limit)
			}
		}
	}
	low, high := stats.Range(figures)
	least, most := 0.75*low, 1.25*high
	for _, r := range a.rows {
		for _, m := range r.marks {
			if m.low != nil && m.high != nil {
				low, high = min(low, max(*m.low, least)), max(high, min(*m.high, most))
			}
		}
	}
	unit := scaleFor(formOf(t.Basis.Metric.Quantity).scales, high/2)
	return plot.Linear(low, high, from, to, int(width/80)).Labelled(ticksIn(unit)), unit
}

func (t testView) answerPlot(a answerFigures, width float64) *plot.Plot {
	box := outline.Box{Left: 8, Top: 20, Right: width - 8}
	above := 0.0 // of a name
	if width == plot.Wide {
		box.Left += a.nameWidth()
	} else {
		above = answerName
	}
	x, unit := t.answerAxis(a, box.Left+8, box.Right-8, width-box.Left)
	placed, tops := make([][]plot.Spot, len(a.rows)), make([]float64, len(a.rows))
	box.Bottom = box.Top
	for i, r := range a.rows {
		spots, lines := plot.Place(r.estimates(unit), x, box)
		placed[i], tops[i] = spots, box.Bottom
		box.Bottom += answerTop + above + answerLine*float64(lines)
	}
	p := plot.New(plot.Frame{
		Title: t.Sentence("chart.answer.title", text.Args{"Heading": t.heading()}), Desc: t.answerContent(a), Width: width, Height: box.Bottom + 40, Box: box,
		XTitle: t.Sentence("chart.answer.axis", text.Args{"Noun": t.estimate(), "Unit": t.unit(unit), "Cut": x.Low > 0}),
	}, x, plot.Axis{})
	t.sayBetter(p, t.Basis.Metric)
	names := strings.Join(a.heads, " / ")
	p.Label(8, box.Top-7, "start", "small", plot.Cut(names, width-120), names)
	for i, r := range a.rows {
		if p.YTicks = append(p.YTicks, outline.Tick{At: tops[i]}); above > 0 {
			p.Label(box.Left, tops[i]+answerTop+9, "start", "name", plot.Cut(r.name, (box.Right-box.Left)*plot.CharPixels/boldPixels), r.name)
		} else {
			p.Label(box.Left-8, tops[i]+answerTop+13, "end", "name", plot.Cut(r.name, a.nameWidth()*plot.CharPixels/boldPixels), r.name)
		}
		for k, s := range placed[i] {
			t.addAnswer(p, r.marks[k], s, tops[i]+answerTop+above+answerLine/2)
		}
	}
	return p
}

// nameWidth is how many pixels the names of the rows need at most.
func (a answerFigures) nameWidth() float64 {
	widest := 0.0
	for _, r := range a.rows {
		widest = max(widest, plot.TextPixels(r.name))
	}
	return min(widest*boldPixels/plot.CharPixels+8, answerNames)
}

func (t testView) answerContent(a answerFigures) string {
	what := t.Sentence("chart.answer.content", text.Args{"Noun": t.noun(), "Factor": a.factor, "Rows": len(a.rows)})
	return t.content(what, a.named(), t.value)
}

// addAnswer draws a mark with its figure, its interval and its limit. top is the middle of the first
// line of its row.
func (t testView) addAnswer(p *plot.Plot, m answerMark, s plot.Spot, top float64) {
	middle := top + answerLine*float64(s.Line)
	title := t.Sentence("chart.trials.estimate", text.Args{"Pattern": m.pattern, "Estimate": t.value(m.estimate)})
	if m.low != nil && m.high != nil {
		title = t.Sentence("chart.trials.interval", text.Args{"Pattern": m.pattern, "Low": t.value(*m.low), "High": t.value(*m.high)})
		p.Interval(*m.low, *m.high, middle, 5, m.hue, title)
	}
	if m.limit != nil {
		r := find(t.Rows, func(r *Row) bool { return r.Pattern == m.pattern })
		p.Stroke("limit", 0, *m.limit, middle-answerLine/2, middle+answerLine/2, t.limitTitle(m.pattern, r.Limit(t.Basis.Metric)))
	}
	p.Mark("dot", m.hue, m.estimate, middle, title)
	p.Label(s.TextX, top+answerLine*float64(s.TextLine)+4, s.Anchor, "value", s.Text, "")
}
