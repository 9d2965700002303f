package report

import (
	"slices"
	"strconv"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/report/outline"
	"soku/internal/text"
)

// RowLimit is a documented limit of a figure of a row, and how much of it was reached.
type RowLimit struct {
	measure.Limit
	// Share is the figure over the limit, or nil if the row has no single figure. Low and High
	// are the 95 % interval of the figure that ranks, over the limit.
	Share *float64 `json:"share,omitempty"`
	Low   *float64 `json:"share_low,omitempty"`
	High  *float64 `json:"share_high,omitempty"`
	// Above are the larger limits of the figure that the same trials have, in ascending order.
	Above []measure.Limit `json:"above,omitempty"`
}

// Limit is the limit of a metric, nil for none.
func (r *Row) Limit(m *metric.Definition) *RowLimit {
	return find(r.Limits, func(l *RowLimit) bool { return l.Metric == m.Key })
}

// limit takes note of the documented limits of a row's trials. Of several limits of a figure
// the smallest counts.
func (r *Row) limit(results []*measure.Result, d Design) {
	seen := map[string]bool{} // trials with the same levels and ends have the same limits
	for _, x := range results {
		if x.Origin != nil {
			r.addLimits(x.Origin.Limits)
		}
		if d.Limits == nil {
			continue
		}
		if path := x.Path.String(); !seen[path] {
			seen[path] = true
			r.addLimits(d.Limits(x))
		}
	}
}

// addLimits takes note of the limits of one trial, those of a figure in ascending order.
func (r *Row) addLimits(limits []measure.Limit) {
	for n := 0; n < len(limits); {
		first, end := limits[n], n+1
		for end < len(limits) && limits[end].Metric == first.Metric {
			end++
		}
		found := RowLimit{Limit: first, Above: limits[n+1 : end : end]}
		n = end
		i := slices.IndexFunc(r.Limits, func(o RowLimit) bool { return o.Metric == first.Metric })
		switch {
		case i < 0:
			r.Limits = append(r.Limits, found)
		case first.Value < r.Limits[i].Value:
			r.Limits[i] = found
		}
	}
}

// shareLimits finds how much of its limits each row reached.
func (t *Test) shareLimits() {
	for i := range t.Rows {
		r := &t.Rows[i]
		for j := range r.Limits {
			l := &r.Limits[j]
			if f := r.Figure(l.Metric); f != nil && !f.RangeOnly {
				l.Share = finite(f.Value / l.Value)
			}
			if p := t.place(r.Pattern); p != nil && p.Estimate != nil && l.Share != nil && l.Metric == t.Basis.Metric.Key {
				l.Share = over(p.Estimate, l.Value)
				l.Low, l.High = over(p.Low, l.Value), over(p.High, l.Value)
			}
		}
	}
}

func over(v *float64, limit float64) *float64 {
	if v == nil {
		return nil
	}
	return finite(*v / limit)
}

// addLimitOf adds the columns of a metric's limit, if a row has one: the limit itself, and the
// share that was reached.
func (t testView) addLimitOf(out *outline.Table, rows []*Row, m *metric.Definition, unit scale) {
	if !slices.ContainsFunc(rows, func(r *Row) bool { return r.Limit(m) != nil }) {
		return
	}
	addFigures(out, t.named("column.limit", outline.Column{Unit: t.unit(unit), Number: true, Drop: 6}), unit, func(i int) *float64 {
		if l := rows[i].Limit(m); l != nil {
			return &l.Value
		}
		return nil
	})
	out.Add(t.named("column.limit_share", outline.Column{Number: true, Drop: 1}), func(i int) outline.Cell {
		if l := rows[i].Limit(m); l != nil {
			return figureCell(l.Share, percent, inPercent)
		}
		return outline.Cell{Text: text.Absent}
	})
}

// shareText is the share of a limit in percent, without a unit.
func shareText(l *RowLimit) string {
	if l == nil || l.Share == nil {
		return text.Absent
	}
	return inPercent(*l.Share)
}

// shareCell is a share with its unit.
func shareCell(share float64) outline.Cell {
	return figureCell(&share, percent, func(v float64) string { return inPercent(v) + " %" })
}

func inPercent(share float64) string { return strconv.FormatFloat(share*100, 'f', 1, 64) }

// limitTitle names a limit in a chart.
func (t testView) limitTitle(pattern string, l *RowLimit) string {
	return t.Sentence("chart.trials.limit", text.Args{"Pattern": pattern, "Limit": t.value(l.Value), "Of": l.Of, "Source": l.Source})
}
