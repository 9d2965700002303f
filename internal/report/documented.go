package report

import (
	"slices"

	"soku/internal/measure"
	"soku/internal/text"
)

// limitsReached are the sentences of how much of the limits can be used. The share of a component's
// limit that the catalog documents has one of its own, with the other limits that are not
// reached. If those cover all shares, the sentence of all shares is left out.
func (t testView) limitsReached() []string {
	documented := t.documented()
	if len(documented) > 0 && len(documented) == len(t.Reached) {
		return documented
	}
	return append([]string{t.reached()}, documented...)
}

// documented are the sentences of the largest share that is reached of each component's limit, of
// few components.
func (t testView) documented() (out []string) {
	var said []string
	for _, r := range t.Reached {
		if r.Component == "" || slices.Contains(said, r.Component) || len(out) == mostReached {
			continue
		}
		said = append(said, r.Component)
		value := *r.Share * r.Value
		out = append(out, t.Sentence("limit.documented", text.Args{
			"Value": t.value(value), "Share": *r.Share, "Limit": t.value(r.Value), "Component": r.Component, "With": t.with(r),
			"Above": t.above(r.Above, value), "Source": r.Source, "Date": r.Date,
		}))
	}
	return out
}

// above are the limits that are not reached.
func (t testView) above(limits []measure.Limit, value float64) (out []string) {
	for _, l := range limits {
		if l.Component != "" && value < l.Value {
			out = append(out, t.Sentence("limit.documented.above", text.Args{"Limit": t.value(l.Value), "Component": l.Component}))
		}
	}
	return out
}
