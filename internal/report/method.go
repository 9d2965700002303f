package report

import (
	"slices"

	"soku/internal/text"
)

// methods are the sentences on how figures and ranks come about.
func (r reportView) methods() []string {
	var out []string
	if r.Ingested < r.Trials {
		out = append(out, r.Sentence("method.throughput", nil))
	}
	if r.Ingested < r.Trials || r.merges() {
		out = append(out, r.Sentence("method.round_trips", nil))
	}
	out = append(out, r.Sentence("method.ranks", nil), r.Sentence("method.failures", nil))
	if r.Ingested > 0 {
		out = append(out, r.Sentence("method.ingested", nil))
	}
	if s := r.missing(); s != "" {
		out = append(out, s)
	}
	if r.Rounds > 0 && r.Ingested < r.Trials {
		out = append(out, r.Sentence("method.order", text.Args{"Seed": r.Campaign.Seed}))
	}
	for i := range r.Tests {
		t := testView{&r.Tests[i], r.Catalogue}
		for _, m := range t.timings() {
			out = append(out, t.Sentence("method.timed", text.Args{"Label": t.label(), "Method": m}))
		}
	}
	return out
}

// merges reports whether any row has histograms of its trials together.
func (r reportView) merges() bool {
	return slices.ContainsFunc(r.Tests, func(t Test) bool {
		return slices.ContainsFunc(t.Rows, func(row Row) bool {
			for _, h := range row.histograms {
				if h != nil {
					return true
				}
			}
			return false
		})
	})
}
