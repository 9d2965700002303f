package report

import (
	"slices"
	"strconv"
)

// limitColumns say which rows are the control, and how much of the published limit of the figure
// that ranks was reached.
func limitColumns() []csvColumn {
	limit := func(cell func(*RowLimit) string) func(*Test, *Row) string {
		return func(t *Test, r *Row) string {
			if l := r.Limit(t.Basis.Metric); l != nil {
				return cell(l)
			}
			return ""
		}
	}
	return []csvColumn{
		{"control", func(t *Test, r *Row) string {
			if slices.ContainsFunc(t.ControlRows, func(c Row) bool { return c.Pattern == r.Pattern }) {
				return "true"
			}
			return ""
		}},
		{"limit", limit(func(l *RowLimit) string { return exact(l.Value) })},
		{"limit_of", limit(func(l *RowLimit) string { return csvText(l.Of) })},
		{"limit_source", limit(func(l *RowLimit) string { return csvText(l.Source) })},
		{"limit_share_ratio", limit(func(l *RowLimit) string {
			if l.Share == nil {
				return ""
			}
			return exact(*l.Share)
		})},
	}
}

// verdictColumns say what limited the trials of a row.
func verdictColumns() []csvColumn {
	of := func(cell func(*RowVerdict) string) func(*Test, *Row) string {
		return func(_ *Test, r *Row) string {
			if r.Verdict == nil {
				return ""
			}
			return cell(r.Verdict)
		}
	}
	return []csvColumn{
		{"limited_by", of(func(v *RowVerdict) string { return csvText(string(v.LimitedBy)) })},
		{"limited_by_confidence", of(func(v *RowVerdict) string { return csvText(string(v.Confidence)) })},
		{"limited_by_trials", of(func(v *RowVerdict) string { return strconv.Itoa(v.Trials) })},
		{"verdicts", of(func(v *RowVerdict) string { return strconv.Itoa(v.Of) })},
	}
}
