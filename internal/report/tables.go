package report

import (
	"strings"

	"soku/internal/report/outline"
	"soku/internal/text"
)

// allRows are the rows of the test.
func (t *Test) allRows() []*Row {
	out := make([]*Row, len(t.Rows))
	for i := range t.Rows {
		out[i] = &t.Rows[i]
	}
	return out
}

// addPatterns adds a column for each factor, or one with the names of patterns where factors have
// no levels.
func (t testView) addPatterns(out *outline.Table, rows []*Row, factors bool) {
	for i, r := range rows {
		out.Rows[i].Name = r.Pattern
	}
	if !factors || len(t.Factors) == 0 {
		out.AddText(t.named("column.pattern", outline.Column{Head: true}), func(i int) string { return rows[i].Pattern })
		return
	}
	for f, name := range t.Factors {
		out.AddText(outline.Column{Name: name, Head: true}, func(i int) string { return rows[i].Levels[f].Value })
	}
}

// addFigures adds a column of figures in a unit, with a dash where one is unknown.
func addFigures(out *outline.Table, c outline.Column, unit scale, of func(i int) *float64) {
	out.Add(c, func(i int) outline.Cell { return figureCell(of(i), unit, unit.text) })
}

// figureCell is the cell of a figure in a unit, as write writes it; a dash if it is unknown.
func figureCell(v *float64, unit scale, write func(float64) string) outline.Cell {
	if v == nil {
		return outline.Cell{Text: text.Absent}
	}
	in := *v / unit.per
	return outline.Cell{Text: write(*v), Value: &in}
}

// addIntervals adds a column of intervals in a unit, with a dash where one is unknown.
func (t testView) addIntervals(out *outline.Table, c outline.Column, unit scale, write func(float64) string, of func(i int) (low, high *float64)) {
	out.Add(c, func(i int) outline.Cell {
		low, high := of(i)
		if low == nil || high == nil {
			return outline.Cell{Text: text.Absent}
		}
		return t.rangeCell(*low, *high, unit, write)
	})
}

// rangeCell is the cell of a range in a unit.
func (t testView) rangeCell(low, high float64, unit scale, write func(float64) string) outline.Cell {
	from, to := figureCell(&low, unit, write), figureCell(&high, unit, write)
	return outline.Cell{Text: t.between(from.Text, to.Text), Value: from.Value, High: to.Value}
}

// addCounts adds a column of counts.
func addCounts(out *outline.Table, c outline.Column, of func(i int) int) {
	out.Add(c, func(i int) outline.Cell { return countCell(of(i)) })
}

func countCell(n int) outline.Cell {
	v := float64(n)
	return figureCell(&v, one, countText)
}

// rankUnit is the unit of the estimates.
func (t testView) rankUnit() scale {
	var figures []float64
	for _, p := range t.Ranking {
		if p.Estimate != nil {
			figures = append(figures, *p.Estimate)
		}
	}
	return scaleFor(formOf(t.Basis.Metric.Quantity).scales, figures...)
}

// named gives a column its heading, by its key, and what that means.
func (t testView) named(key string, c outline.Column) outline.Column {
	c.Name = t.Heading(key)
	if note := strings.TrimPrefix(key, "column."); t.Has("column_note." + note) {
		c.Why = t.Sentence("column_note."+note, text.Args{"Practical": t.Practical})
	}
	return c
}
