package report

import (
	"cmp"
	"slices"
	"strings"

	"soku/internal/measure/metric"
	"soku/internal/report/outline"
	"soku/internal/text"
)

// addFamily adds the columns of a family's metrics for those rows.
func (t testView) addFamily(out *outline.Table, rows []*Row, f *metric.Family) {
	for _, m := range f.Metrics {
		c := m.Column
		if c == nil || !t.shows(rows, m) {
			continue
		}
		as := formOf(m.Quantity)
		unit := unitOf(rows, f, m)
		drop := c.Drop
		if m == t.Basis.column() {
			drop = 0
		}
		out.Add(outline.Column{Name: t.metric(m), Unit: t.unitOf(as, unit), Number: true, Drop: drop, Why: t.note(m)}, func(i int) outline.Cell {
			return t.cell(rows[i], m, unit)
		})
		t.addLimitOf(out, rows, m, unit)
		for _, x := range c.Extra {
			if x.Show == metric.WhereFound && !slices.ContainsFunc(rows, func(r *Row) bool { s := r.figure(m); return s != nil && s.N > 1 }) {
				continue
			}
			extra := outline.Column{Number: true, Drop: x.Drop}
			if x.Variation {
				extra.Name, extra.Why = t.Sentence("column.variation", nil), t.Sentence("column_note.variation", nil)
			} else {
				extra.Name, extra.Why, extra.Unit = t.SentenceFor(m.Key, "column.range", nil), t.Sentence("column_note.range", nil), t.unitOf(as, unit)
			}
			out.Add(extra, func(i int) outline.Cell {
				s := rows[i].figure(m)
				switch {
				case s == nil || x.Variation && s.N < 2:
					return outline.Cell{Text: text.Absent}
				case x.Variation:
					return shareCell(s.CV)
				}
				return t.ends(s, unit)
			})
		}
	}
}

// shows reports whether a table of those rows has a column of the metric.
func (t testView) shows(rows []*Row, m *metric.Definition) bool {
	c := m.Column
	if c.Show == metric.Always || c.Show == metric.UnlessIngested && len(t.Ingested) == 0 {
		return true
	}
	return slices.ContainsFunc(rows, func(r *Row) bool {
		if r.figure(m) != nil {
			return true
		}
		if c.Instead == nil {
			return false
		}
		s := r.figure(c.Instead)
		return s != nil && (c.Ends && s.N > 1 || !c.Ends && !s.RangeOnly)
	})
}

// metric is the heading of a metric: a message, or the words of its key.
func (t testView) metric(m *metric.Definition) string {
	if t.Has("metric." + m.Key) {
		return t.Sentence("metric."+m.Key, nil)
	}
	return strings.ReplaceAll(strings.TrimSuffix(m.Key, "_"+m.Suffix), "_", " ")
}

// note is what the heading of a metric means.
func (t testView) note(m *metric.Definition) string {
	test := t.test()
	switch {
	case m == t.Basis.Metric:
		return t.SentenceFor(m.Key, "basis_note", nil)
	case t.Has("metric_note." + m.Key):
		return t.SentenceFor(test, "metric_note."+m.Key, nil)
	case m.Of != nil && t.Has("metric_note.of."+m.Of.Member):
		return t.SentenceFor(test, "metric_note.of."+m.Of.Member, nil)
	}
	return ""
}

// unitOf is the unit that the heading of a column names.
func (t testView) unitOf(as form, unit scale) string {
	if as.bare {
		return ""
	}
	return t.unit(unit)
}

// cell is the metric of a row, or what stands for it.
func (t testView) cell(r *Row, m *metric.Definition, unit scale) outline.Cell {
	s := r.figure(m)
	if s == nil && m.Column.Instead != nil {
		s = r.figure(m.Column.Instead)
	}
	as := formOf(m.Quantity)
	write := func(v float64) string { return as.cellText(v, unit) }
	if p := t.place(r.Pattern); m == t.Basis.Metric && s != nil && s.Metric == m && !s.RangeOnly && p != nil && p.Estimate != nil {
		return figureCell(p.Estimate, unit, write) // what the ranking and its reasons are of
	}
	switch {
	case s == nil:
		return outline.Cell{Text: text.Absent}
	case m.Column.Ends:
		return t.ends(s, unit)
	case s.RangeOnly:
		return outline.Cell{Text: text.Absent}
	case s.Metric.Over == metric.Range && write(s.Min) != write(s.Max):
		return t.ends(s, unit)
	}
	return figureCell(&s.Value, unit, write)
}

// ends are the smallest and the largest trial.
func (t testView) ends(s *Figure, unit scale) outline.Cell {
	return t.rangeCell(s.Min, s.Max, unit, unit.text)
}

// unitOf is the unit of a metric's column: see [metric.Column.Scales].
func unitOf(rows []*Row, f *metric.Family, m *metric.Definition) scale {
	leading := slices.DeleteFunc(slices.Clone(f.Metrics), func(o *metric.Definition) bool {
		return o.Column == nil || o.Column.Scales == 0 || o.Quantity != m.Quantity
	})
	slices.SortStableFunc(leading, func(a, b *metric.Definition) int { return cmp.Compare(a.Column.Scales, b.Column.Scales) })
	if len(leading) == 0 {
		leading = []*metric.Definition{m}
	}
	var figures []float64
	for _, r := range rows {
		counted := map[*metric.Distribution]bool{}
		for _, o := range leading {
			s := r.figure(o)
			if s == nil && o.Column.Instead != nil {
				s = r.figure(o.Column.Instead)
			}
			if s == nil || o.Of != nil && counted[o.Of] {
				continue
			}
			counted[o.Of] = true
			figures = append(figures, s.Value)
		}
	}
	return scaleFor(formOf(m.Quantity).scales, figures...)
}
