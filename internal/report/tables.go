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

// optional writes a figure, or a dash if it is unknown.
func optional(v *float64, write func(float64) string) string {
	if v == nil {
		return text.Absent
	}
	return write(*v)
}

// intervalText writes an interval, or a dash if it is unknown.
func (t testView) intervalText(low, high *float64, write func(float64) string) string {
	if low == nil || high == nil {
		return text.Absent
	}
	return t.between(write(*low), write(*high))
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
