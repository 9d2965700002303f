package report

import (
	"cmp"
	"slices"

	"soku/internal/text"
)

// DisjointRanges is levels of a factor whose published ranges do not overlap: of patterns that
// differ in this factor only, every run with a level of Lower is below every run with one of
// Higher.
type DisjointRanges struct {
	Factor   string   `json:"factor"`
	Lower    []string `json:"lower"`
	Higher   []string `json:"higher"`
	Compared int      `json:"compared"` // pairs of patterns
}

// levelRanges is how two levels compare in all pairs of patterns that differ in them only.
type levelRanges struct{ lower, higher, overlapping int }

// findDisjointRanges fills Ranges from ingested ranges, of which only the ends are known: they
// carry no test, but ranges that never overlap say something. Levels with the same level above
// them, or below, are named together, whichever makes fewer sentences.
func (t *Test) findDisjointRanges() {
	if !t.ranged() {
		return
	}
	for f := range t.Factors {
		found := t.rangesOf(f)
		byHigher := grouped(found, func(r DisjointRanges) string { return r.Higher[0] }, func(to *DisjointRanges, r DisjointRanges) { to.Lower = append(to.Lower, r.Lower...) })
		byLower := grouped(found, func(r DisjointRanges) string { return r.Lower[0] }, func(to *DisjointRanges, r DisjointRanges) { to.Higher = append(to.Higher, r.Higher...) })
		if len(byLower) < len(byHigher) {
			byHigher = byLower
		}
		t.Ranges = append(t.Ranges, byHigher...)
	}
}

// rangesOf are the pairs of levels of a factor, by its index, whose ranges are apart in every
// pair of patterns.
func (t *Test) rangesOf(factor int) (out []DisjointRanges) {
	found := map[[2]string]*levelRanges{}
	for i := range t.Rows {
		a := &t.Rows[i]
		fa := t.rangeOf(a)
		for j := range t.Rows {
			b := &t.Rows[j]
			la, lb := a.Levels[factor].Value, b.Levels[factor].Value
			fb := t.rangeOf(b)
			if natural(la, lb) >= 0 || fa == nil || fb == nil || !sameBut(a, b, factor) {
				continue
			}
			r := found[[2]string{la, lb}]
			if r == nil {
				r = new(levelRanges)
				found[[2]string{la, lb}] = r
			}
			switch {
			case fa.Max < fb.Min:
				r.lower++
			case fa.Min > fb.Max:
				r.higher++
			default:
				r.overlapping++
			}
		}
	}
	for levels, r := range found {
		apart := DisjointRanges{Factor: t.Factors[factor], Lower: levels[:1:1], Higher: levels[1:2:2], Compared: r.lower + r.higher}
		if r.higher > 0 {
			apart.Lower, apart.Higher = apart.Higher, apart.Lower
		}
		if r.overlapping == 0 && (r.lower == 0 || r.higher == 0) {
			out = append(out, apart)
		}
	}
	slices.SortStableFunc(out, func(a, b DisjointRanges) int {
		return cmp.Or(natural(a.Lower[0], b.Lower[0]), natural(a.Higher[0], b.Higher[0]))
	})
	return out
}

// rangeOf is the published range of the figure that ranks a row, or nil.
func (t *Test) rangeOf(r *Row) *Figure {
	m := t.Basis.column()
	if f := r.figure(m); f != nil || m.Column.Instead == nil {
		return f
	}
	return r.figure(m.Column.Instead)
}

// sameBut reports whether two rows have the same levels of all factors but one.
func sameBut(a, b *Row, factor int) bool {
	for f := range a.Levels {
		if f != factor && a.Levels[f] != b.Levels[f] {
			return false
		}
	}
	return true
}

// grouped joins those of one key.
func grouped(all []DisjointRanges, key func(DisjointRanges) string, join func(to *DisjointRanges, r DisjointRanges)) (out []DisjointRanges) {
	for _, r := range all {
		i := slices.IndexFunc(out, func(o DisjointRanges) bool { return key(o) == key(r) })
		if i < 0 {
			r.Lower, r.Higher = slices.Clone(r.Lower), slices.Clone(r.Higher)
			out = append(out, r)
			continue
		}
		join(&out[i], r)
		out[i].Compared += r.Compared
	}
	return out
}

// mostRanges is how many groups of levels a sentence about the ranges of one factor has.
const mostRanges = 4

// rangesApart say which levels have no range in common, a sentence a factor.
func (t testView) rangesApart() (out []string) {
	var factors []string
	of := map[string][]string{}
	for _, r := range t.Ranges {
		if of[r.Factor] == nil {
			factors = append(factors, r.Factor)
		}
		of[r.Factor] = append(of[r.Factor], t.Sentence("factor.apart", text.Args{"Lower": r.Lower, "Higher": r.Higher, "Compared": r.Compared}))
	}
	for _, f := range factors {
		some := of[f][:min(len(of[f]), mostRanges)]
		out = append(out, t.Sentence("factor.ranges_apart", text.Args{"Factor": f, "Apart": some, "More": len(of[f]) - len(some)}))
	}
	return out
}
