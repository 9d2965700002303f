package report

import (
	"strings"

	"soku/internal/text"
)

// column is one column of a table; every written form draws the same tables.
type column struct {
	Name, Unit string
	Number     bool // aligned at the right
	Head       bool // names the row
	// keep orders what a narrow terminal loses: the column with the highest
	// value goes first, 0 always stays.
	keep int
	Why  string // what the heading means, for a tooltip
}

// heading is "goodput (Mbit/s)".
func (c column) heading() string {
	if c.Unit == "" {
		return c.Name
	}
	return c.Name + " (" + c.Unit + ")"
}

// table is rows of text under columns.
type table struct {
	Columns []column
	Rows    [][]string
}

func (t *table) add(c column, cell func(i int) string) {
	t.Columns = append(t.Columns, c)
	for i := range t.Rows {
		t.Rows[i] = append(t.Rows[i], cell(i))
	}
}

// allRows are the rows of the test.
func (t *Test) allRows() []*Row {
	out := make([]*Row, len(t.Rows))
	for i := range t.Rows {
		out[i] = &t.Rows[i]
	}
	return out
}

// addPatterns adds a column for each factor, or one with the names of patterns.
func (t testView) addPatterns(out *table, rows []*Row, factors bool) {
	if !factors || len(t.Factors) == 0 {
		out.add(t.named("column.pattern", column{Head: true}), func(i int) string { return rows[i].Pattern })
		return
	}
	for f, name := range t.Factors {
		out.add(column{Name: name, Head: true}, func(i int) string { return rows[i].Levels[f].Value })
	}
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
func (t testView) named(key string, c column) column {
	c.Name = t.Heading(key)
	if note := strings.TrimPrefix(key, "column."); t.Has("column_note." + note) {
		c.Why = t.Sentence("column_note."+note, text.Args{"Practical": t.Practical})
	}
	return c
}
