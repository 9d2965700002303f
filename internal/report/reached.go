package report

import (
	"cmp"
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/report/outline"
	"soku/internal/text"
)

// Reached is the largest share of a documented limit that is reached by patterns which differ
// only in how they were measured, such as in the number of streams.
type Reached struct {
	// Levels are what these patterns have in common: the levels of all other factors.
	Levels  []measure.Level `json:"levels"`
	Pattern string          `json:"pattern"` // that reaches it
	// With are the levels in which it differs from the others, if any.
	With []measure.Level `json:"with,omitempty"`
	RowLimit
}

// findReached fills Reached. A limit of a figure of which less is better is not there to be
// reached.
func (t *Test) findReached() {
	if t.Basis.Metric.Better != metric.Higher {
		return
	}
	means := t.means()
	for i := range t.Rows {
		r := &t.Rows[i]
		l := r.Limit(t.Basis.Metric)
		if l == nil || l.Share == nil {
			continue
		}
		found := Reached{Pattern: r.Pattern, RowLimit: *l}
		for f, level := range r.Levels {
			if means[f] {
				found.With = append(found.With, level)
			} else {
				found.Levels = append(found.Levels, level)
			}
		}
		same := func(o Reached) bool { return slices.Equal(o.Levels, found.Levels) }
		switch at := slices.IndexFunc(t.Reached, same); {
		case at < 0:
			t.Reached = append(t.Reached, found)
		case *found.Share > *t.Reached[at].Share:
			t.Reached[at] = found
		}
	}
	slices.SortStableFunc(t.Reached, func(a, b Reached) int { return cmp.Compare(*b.Share, *a.Share) })
}

// means are the factors, by their index, that say how was measured and not what: those that
// are named like an option of the test or have its values, if these are numbers.
func (t *Test) means() []bool {
	out := make([]bool, len(t.Factors))
	for f, name := range t.Factors {
		var levels []string
		numbers := true
		for i := range t.Rows {
			v := t.Rows[i].Levels[f].Value
			numbers = numbers && v != "" && digit(v[0])
			levels = addOnce(levels, v)
		}
		slices.SortFunc(levels, natural)
		out[f] = numbers && len(levels) > 1 && slices.ContainsFunc(t.Different, func(o Option) bool { return o.Key == name || slices.Equal(o.Values, levels) })
	}
	return out
}

// mostReached is how many shares of a limit a sentence names; of more it has the ends.
const mostReached = 2

// reached says how much of the limit can be used, or returns "" if no limit is known.
func (t testView) reached() string {
	all := t.Reached
	if len(all) == 0 {
		return ""
	}
	args := text.Args{"Noun": t.noun(), "N": len(all), "Least": *all[len(all)-1].Share}
	if len(all) > mostReached {
		args["Most"], args["Highest"], args["Lowest"] = *all[0].Share, t.Sentence("limit.reached.end", t.reachedArgs(all[0])), t.Sentence("limit.reached.end", t.reachedArgs(all[len(all)-1]))
		return t.Sentence("limit.reached.many", args)
	}
	var each []string
	for _, r := range all {
		each = append(each, t.Sentence("limit.reached.one", t.reachedArgs(r)))
	}
	args["Each"] = each
	return t.Sentence("limit.reached", args)
}

// reachedTable is the largest share of the limit of each group of patterns, the largest first. It
// has no columns where a sentence names all, and where each pattern is a group: then the figures
// have the same.
func (t testView) reachedTable() outline.Table {
	if len(t.Reached) <= mostReached || !slices.ContainsFunc(t.Reached, func(r Reached) bool { return len(r.With) > 0 }) {
		return outline.Table{}
	}
	all := ends(t.Reached, mostRows, bestShown, lastShown)
	out := outline.NewTable(len(all))
	var limits []float64
	for _, r := range all {
		limits = append(limits, r.Value)
	}
	unit := scaleFor(formOf(t.Basis.Metric.Quantity).scales, limits...)
	level := func(levels []measure.Level, at int) string {
		if at < len(levels) {
			return t.level(levels[at].Value)
		}
		return text.Absent
	}
	for k, l := range all[0].Levels {
		out.AddText(outline.Column{Name: l.Factor, Head: true}, func(i int) string { return level(all[i].Levels, k) })
	}
	for k, l := range all[0].With {
		out.AddText(outline.Column{Name: l.Factor, Number: true}, func(i int) string { return level(all[i].With, k) })
	}
	out.Add(t.named("column.limit_share", outline.Column{Number: true}), func(i int) outline.Cell { return figureCell(all[i].Share, percent, inPercent) })
	t.addIntervals(&out, t.named("column.share_interval", outline.Column{Number: true, Drop: 3}), percent, inPercent, func(i int) (low, high *float64) { return all[i].Low, all[i].High })
	addFigures(&out, t.named("column.published", outline.Column{Unit: t.unit(unit), Number: true, Drop: 1}), unit, func(i int) *float64 { return &all[i].Value })
	out.AddText(t.named("column.limit_of", outline.Column{Drop: 2}), func(i int) string { return cmp.Or(all[i].Of, text.Absent) })
	return out
}

// reachedHeading says what the table of reached limits has.
func (t testView) reachedHeading() string {
	if len(t.Reached) == 0 {
		return ""
	}
	var with []string
	for _, l := range t.Reached[0].With {
		with = append(with, l.Factor)
	}
	return t.Sentence("limit.heading", text.Args{"With": with})
}

// reachedArgs is what a group of patterns reaches of its limit, for a sentence.
func (t testView) reachedArgs(r Reached) text.Args {
	with := t.with(r)
	name := joinPresent(t.impliedLevels().telling(r.Levels))
	if name == "" {
		name, with = t.called(r.Pattern), nil
	}
	return text.Args{
		"Name": name, "Share": *r.Share, "Value": t.value(*r.Share * r.Value), "Low": r.Low, "High": r.High, "Limit": t.value(r.Value), "Of": r.Of, "With": with,
	}
}

// with are the levels in which a pattern that reaches a share differs from the others.
func (t testView) with(r Reached) (out []string) {
	for _, l := range r.With {
		out = append(out, t.Sentence("limit.reached.with", text.Args{"Factor": l.Factor, "Level": l.Value}))
	}
	return out
}

// joinPresent joins the levels that are not empty.
func joinPresent(levels []measure.Level) string {
	var names []string
	for _, l := range levels {
		if l.Value != "" {
			names = append(names, l.Value)
		}
	}
	return strings.Join(names, measure.LevelSeparator)
}

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
