package report

import (
	"cmp"
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/report/outline"
	"soku/internal/text"
)

// pivot is a table whose rows and columns are the levels of two factors, by their index in
// [Test.Factors].
type pivot struct {
	rows, columns int
	planned       bool // levels are in the order of the plan
}

// Pivoted returns the report with one more table for each test that has both factors: the
// figure that ranks, with the levels of one factor as rows and those of the other as columns.
// spec is "ROWS,COLUMNS". The error is of kind usage: no test has both factors.
func (r *Report) Pivoted(spec string) (*Report, error) {
	out := *r
	out.Tests = slices.Clone(r.Tests)
	found := false
	for i := range out.Tests {
		t := &out.Tests[i]
		for at, c := range spec {
			if c != ',' {
				continue
			}
			rows, columns := slices.Index(t.Factors, strings.TrimSpace(spec[:at])), slices.Index(t.Factors, strings.TrimSpace(spec[at+1:]))
			if rows >= 0 && columns >= 0 && rows != columns {
				t.pivot, found = &pivot{rows, columns, r.Campaign.Plan != ""}, true
			}
		}
	}
	if !found {
		return nil, measure.Fail(measure.KindUsage, "report.pivot", measure.Figures{"pivot": spec, "factors": r.factors()})
	}
	return &out, nil
}

// pivotTable is the test's figure by the levels of two factors. The other factors that vary
// are row labels, so that each cell is one pattern. It has no columns if the test has no
// such table.
func (t testView) pivotTable() outline.Table {
	if t.pivot == nil {
		return outline.Table{}
	}
	heads := t.pivotHeads()
	columns := t.levelsOf(t.pivot.columns)
	var keys [][]string
	cells := map[string]map[string]outline.Cell{}
	cell := t.pivotCell()
	for i := range t.Rows {
		r := &t.Rows[i]
		var key []string
		for _, f := range heads {
			key = append(key, r.Levels[f].Value)
		}
		id := strings.Join(key, "\x00")
		if cells[id] == nil {
			cells[id] = map[string]outline.Cell{}
			keys = append(keys, key)
		}
		cells[id][r.Levels[t.pivot.columns].Value] = cell(r)
	}
	order := t.levelsOf(t.pivot.rows)
	slices.SortStableFunc(keys, func(a, b []string) int { return slices.Index(order, a[0]) - slices.Index(order, b[0]) })
	out := outline.NewTable(len(keys))
	out.Whole, out.Unit = true, t.unit(t.rankUnit())
	for at, f := range heads {
		out.AddText(outline.Column{Name: t.Factors[f], Head: true}, func(i int) string { return cmp.Or(keys[i][at], text.Absent) })
	}
	for _, level := range columns {
		out.Add(outline.Column{Name: cmp.Or(level, text.Absent), Number: true}, func(i int) outline.Cell {
			return cmp.Or(cells[strings.Join(keys[i], "\x00")][level], outline.Cell{Text: text.Absent})
		})
	}
	return out
}

// pivotHeads are the factors that name a row: that of the rows, then the others that vary.
func (t testView) pivotHeads() []int {
	heads := []int{t.pivot.rows}
	for f := range t.Factors {
		if f != t.pivot.rows && f != t.pivot.columns && len(t.levelsOf(f)) > 1 {
			heads = append(heads, f)
		}
	}
	return heads
}

// levelsOf are the levels of a factor, each once, in the order of the plan or, without one, by
// their names.
func (t testView) levelsOf(factor int) (levels []string) {
	for i := range t.Rows {
		levels = addOnce(levels, t.Rows[i].Levels[factor].Value)
	}
	if !t.pivot.planned {
		slices.SortStableFunc(levels, natural)
	}
	return levels
}

// pivotCell writes the figure that ranks a row: its estimate, or of a published range its ends.
func (t testView) pivotCell() func(*Row) outline.Cell {
	unit := t.rankUnit()
	if t.ranged() {
		return func(r *Row) outline.Cell { return t.cell(r, t.Basis.column(), unit) }
	}
	estimates := map[string]*float64{}
	for _, p := range t.Ranking {
		estimates[p.Pattern] = p.Estimate
	}
	return func(r *Row) outline.Cell {
		return figureCell(estimates[r.Pattern], unit, func(v float64) string {
			if l := r.Limit(t.Basis.Metric); l != nil && l.Share != nil {
				return t.Sentence("cell.pivot_share", text.Args{"Figure": unit.text(v), "Share": shareText(l)})
			}
			return unit.text(v)
		})
	}
}

// ranged reports whether trials are ranked by the middle of published ranges: a column of their
// ends shows what that rests on.
func (t *Test) ranged() bool { return t.Basis.column() != t.Basis.Metric }

// pivotHeading is what the table has, such as "goodput (Gbit/s) by instance type and interface".
func (t testView) pivotHeading() string {
	if t.pivot == nil {
		return ""
	}
	figure := t.estimate()
	if t.ranged() {
		figure = t.metric(t.Basis.column())
	}
	limited := slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Limit(t.Basis.Metric) != nil })
	return t.Sentence("report.pivot", text.Args{
		"Limited": limited && !t.ranged(),
		"Figure":  figure, "Unit": t.unit(t.rankUnit()), "Rows": t.Factors[t.pivot.rows], "Columns": t.Factors[t.pivot.columns],
	})
}
