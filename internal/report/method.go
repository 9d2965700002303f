package report

import "soku/internal/text"

// methods are the sentences on how figures and ranks come about.
func (r reportView) methods() []string {
	out := []string{r.Say("method.throughput", nil), r.Say("method.round_trips", nil), r.Say("method.ranks", nil), r.Say("method.failures", nil)}
	if r.Ingested > 0 {
		out = append(out, r.Say("method.ingested", nil))
	}
	if r.Rounds > 0 && r.Ingested < r.Trials {
		out = append(out, r.Say("method.order", text.Args{"Seed": r.Campaign.Seed}))
	}
	for i := range r.Tests {
		t := testView{&r.Tests[i], r.Catalogue}
		for _, m := range t.timings() {
			out = append(out, t.Say("method.timed", text.Args{"Label": t.label(), "Method": m}))
		}
	}
	return out
}
