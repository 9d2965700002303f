package report

import (
	"slices"

	"soku/internal/report/outline"
	"soku/internal/report/plot"
	"soku/internal/stats"
	"soku/internal/text"
)

// chart draws the choices of each pattern on one axis, a strip a pattern: of many, those with the
// largest changes.
func (v familyView) chart(id string) *outline.Charts {
	sizes := make([]float64, len(v.tests))
	for i, t := range v.tests {
		for _, p := range t.Pairs {
			sizes[i] = max(sizes[i], comparedRow{v.comparedView, p}.size())
		}
	}
	drawn := v.tests
	if few := largest(sizes); few != nil {
		drawn = nil
		for i, t := range v.tests {
			if few[i] {
				drawn = append(drawn, t)
			}
		}
	}
	f := plot.InBothWidths(id+"-changes", func(width float64) *plot.Plot { return v.strips(drawn, width) })
	f.Caption = v.Sentence("compare.chart.caption", text.Args{"Shown": len(drawn), "All": len(v.tests)})
	return &outline.Charts{Legend: v.legend(drawn), Figures: []outline.Figure{f}}
}

// legend names the choices by their colours.
func (v familyView) legend(drawn []ComparedTest) (out []outline.Legend) {
	for _, t := range drawn {
		for _, c := range t.Choices {
			if !slices.ContainsFunc(out, func(l outline.Legend) bool { return l.Series == c.place }) {
				out = append(out, outline.Legend{Series: c.place, Text: v.called(c.Name)[0]})
			}
		}
	}
	return out
}

func (v familyView) strips(drawn []ComparedTest, width float64) *plot.Plot {
	var figures []float64
	for _, t := range drawn {
		for _, c := range t.Choices {
			figures = append(figures, c.Value)
		}
	}
	low, high := stats.Range(figures)
	b, unit := v.basis(), v.unit()
	box := outline.Box{Left: 8, Top: 4, Right: width - 8, Bottom: 4 + stripRow*float64(len(drawn))}
	x, axisUnit := plot.Linear(low, high, box.Left, box.Right, int(width/80)).Labelled(ticksIn(unit)), b.unit(unit)
	if b.Basis.isTime() {
		x, axisUnit = plot.Log(low, high, box.Left, box.Right, int(width/70)).Labelled(timeText), ""
	}
	p := plot.New(plot.Frame{
		Title: v.title(), Width: width, Height: box.Bottom + 40, Box: box,
		XTitle: v.Sentence("compare.chart.axis", text.Args{"Noun": b.noun(), "Unit": axisUnit, "Cut": x.Low > 0 && !x.Log}),
	}, x, plot.Axis{})
	for i := range drawn {
		v.strip(p, comparedView{v.all, &drawn[i], v.Catalogue}, box.Top+stripRow*float64(i))
	}
	return p
}

// strip draws one pattern: a dot a choice, the first one hollow, and a line between them.
func (v familyView) strip(p *plot.Plot, of comparedView, top float64) {
	change := ""
	if len(of.Pairs) == 1 {
		change = of.Sentence("compare.chart.change", text.Args{"Change": comparedRow{of, of.Pairs[0]}.change().Text})
	}
	p.RowTitle(top, of.pattern(), of.pattern(), change, 90)
	middle := top + 28
	var figures []float64
	for _, c := range of.Choices {
		figures = append(figures, c.Value)
		class := "dot"
		if c.place == 0 {
			class = "dot hollow"
		}
		p.Mark(class, c.place, c.Value, middle, v.Sentence("chart.trials.estimate", text.Args{"Pattern": v.called(c.Name)[0], "Estimate": v.basis().value(c.Value)}))
	}
	low, high := stats.Range(figures)
	p.Span(of.Choices[len(of.Choices)-1].place, low, high, middle)
}
