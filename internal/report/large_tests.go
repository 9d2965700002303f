package report

import (
	"slices"

	"soku/internal/report/outline"
)

// A test of more than [mostRows] patterns has lines of only the best and the worst, one of more
// than [mostPictured] pictures of only those. Tables of pages have all.
const (
	mostRows  = 60
	bestShown = 40
	lastShown = 20

	mostPictured = 30 // rows of a chart, and panels
	bestPictured = 20
	lastPictured = 10

	bestLines = 20 // on a terminal
	lastLines = 10
)

// pictured are the rows that charts have a place for: all that have values, best first, or of
// many the best and the worst.
func (t *Test) pictured() []*Row { return ends(t.drawn(), mostPictured, bestPictured, lastPictured) }

// ends returns a list, or the first and last elements of one that is longer than most.
func ends[T any](all []T, most, first, last int) []T {
	if len(all) <= most {
		return all
	}
	return slices.Concat(all[:first], all[len(all)-last:])
}

// panels are the rows that have a panel each: all, or of many those that are pictured, in the
// order of the rows.
func (t *Test) panels() []*Row {
	pictured := t.pictured()
	var out []*Row
	for i := range t.Rows {
		if r := &t.Rows[i]; len(t.Rows) <= mostPictured || slices.Contains(pictured, r) {
			out = append(out, r)
		}
	}
	return out
}

// few are the patterns that a terminal has lines for, nil if it has lines for all.
func (t *Test) few() map[string]bool {
	if len(t.Rows) <= mostRows {
		return nil
	}
	out := map[string]bool{}
	for _, p := range ends(t.Ranking, mostRows, bestLines, lastLines) {
		out[p.Pattern] = true
	}
	return out
}

// addMinor marks the rows of the table that a terminal has no lines for.
func (t testView) addMinor(out *outline.Table, rows []*Row) {
	few := t.few()
	if few == nil {
		return
	}
	for i, r := range rows {
		out.Rows[i].Minor = !few[r.Pattern]
	}
}

// drawn are the rows that have values, best first.
func (t *Test) drawn() []*Row {
	index := make(map[string]*Row, len(t.Rows))
	for i := range t.Rows {
		index[t.Rows[i].Pattern] = &t.Rows[i]
	}
	var out []*Row
	for _, p := range t.Ranking {
		if r := index[p.Pattern]; r != nil && len(r.Values) > 0 {
			out = append(out, r)
		}
	}
	return out
}
