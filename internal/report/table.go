package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"soku/internal/measure"
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

// figureTable is the table of a test: patterns as rows. With factors the levels
// are columns of their own, otherwise the pattern's name is one.
func (t testView) figureTable(factors bool) table {
	out := table{Rows: make([][]string, len(t.Rows))}
	if factors && len(t.Factors) > 0 {
		for f, name := range t.Factors {
			out.add(column{Name: name, Head: true}, func(i int) string { return t.Rows[i].Levels[f].Value })
		}
	} else {
		out.add(column{Name: "pattern", Head: true}, func(i int) string { return t.Rows[i].Pattern })
	}
	rows := make([]*Row, len(t.Rows))
	for i := range t.Rows {
		rows[i] = &t.Rows[i]
	}
	for _, f := range measure.MetricsOf(t.Test.Test).Families {
		if f != measure.UnderLoadFamily {
			t.addFamily(&out, rows, f)
		}
	}
	if t.Test.Test == measure.TestMTU {
		t.addLimit(&out)
	}
	out.add(column{Name: "trials", Number: true, keep: 2, Why: "trials that succeeded"}, func(i int) string { return strconv.Itoa(t.Rows[i].Trials) })
	if len(t.Failures) > 0 {
		out.add(column{Name: "failed", Number: true, keep: 1, Why: "trials that failed; their figures are not counted"}, func(i int) string { return strconv.Itoa(t.Rows[i].Failed) })
	}
	out.add(column{Name: "confidence", keep: 3, Why: "how far each trial's own figure can be trusted, by number of trials"}, func(i int) string { return t.Rows[i].Confidence.String() })
	return out
}

// rankTable is the ranking, best first. A terminal has no room for the reasons
// beside the figures.
func (t testView) rankTable(reasons bool) table {
	out := table{Rows: make([][]string, len(t.Ranking))}
	var figures []float64
	for _, p := range t.Ranking {
		if p.Estimate != nil {
			figures = append(figures, *p.Estimate)
		}
	}
	unit := scaleFor(formOf(t.Basis.Metric.Quantity).scales, figures...)
	optional := func(v *float64) string {
		if v == nil {
			return "–"
		}
		return unit.text(*v)
	}
	out.add(column{Name: "rank", Number: true, Why: "equal ranks: no difference shown"}, func(i int) string {
		if t.Ranking[i].Rank == 0 {
			return "–"
		}
		return strconv.Itoa(t.Ranking[i].Rank)
	})
	out.add(column{Name: "pattern", Head: true}, func(i int) string { return t.Ranking[i].Pattern })
	out.add(column{Name: t.estimate(), Unit: unit.unit, Number: true}, func(i int) string { return optional(t.Ranking[i].Estimate) })
	if slices.ContainsFunc(t.Ranking, func(p Place) bool { return p.Low != nil && p.High != nil }) {
		out.add(column{Name: "95 % interval", Unit: unit.unit, Number: true, keep: 1, Why: "of this pattern's own estimate; ranks come from paired comparisons"}, func(i int) string {
			if p := t.Ranking[i]; p.Low != nil && p.High != nil {
				return unit.text(*p.Low) + " to " + unit.text(*p.High)
			}
			return "–"
		})
	}
	if reasons {
		out.add(column{Name: "why"}, func(i int) string { return text.English().Finding(t.Ranking[i].Reason) })
	}
	return out
}

// String is "3 high, 1 low", or a dash for trials that carry no label.
func (c Confidences) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		name string
	}{{c.High, "high"}, {c.Medium, "medium"}, {c.Low, "low"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.name))
		}
	}
	if len(parts) == 0 {
		return "–"
	}
	return strings.Join(parts, ", ")
}
