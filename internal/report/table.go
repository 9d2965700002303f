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
