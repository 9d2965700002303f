package report

import (
	"cmp"
	"math"
	"slices"

	"soku/internal/report/outline"
	"soku/internal/stats"
	"soku/internal/text"
)

const (
	mostNamedPairs = 3 // comparisons of which a sentence names all pairs of levels
	fewPairs       = 2 // pairs that it names of more comparisons: those that differ, or those that do not
)

// cause says what a factor does; pairs are the comparisons of its levels, the largest ratio
// first. It is empty for a factor of which a test shows nothing.
func (t testView) cause(f FactorEffect, pairs []upward) string {
	shown := pairs
	if f.Matters == stats.MattersYes {
		shown = slices.DeleteFunc(slices.Clone(pairs), func(u upward) bool { return !u.differs() })
	}
	if len(shown) == 0 {
		return ""
	}
	first := shown[0]
	args := text.Args{
		"Factor": f.Factor, "Levels": []string(nil), "Noun": t.compared(), "Ratio": *first.ratio, "From": t.level(first.from), "To": t.level(first.to),
		"By": t.units(first.EffectRatio), "Size": t.size(first), "Interval": t.interval(first), "Threshold": t.Practical, "OnAverage": t.interacts(f.Factor),
	}
	switch {
	case f.Matters == stats.MattersYes && f.Share >= 0.5:
		return t.Paragraph(t.Sentence("factor.sets", args), t.pairsShown(pairs))
	case f.Matters == stats.MattersYes:
		return t.Paragraph(t.Sentence("factor.changes", args), t.pairsShown(pairs))
	case f.Matters == stats.MattersNo || allSame(pairs):
		if f.Matters != stats.MattersNo {
			args["Levels"] = t.levelsCompared(pairs) // others are in no combination with them
		}
		return t.Sentence("factor.no_difference", args)
	case first.low == nil && first.Blocks == 1 && !t.ranged() && !t.hasCurve(f.Factor):
		return t.Sentence("factor.untested", args)
	}
	return ""
}

// allSame reports whether every comparison of a factor's levels that could be made rules a
// practical difference out.
func allSame(pairs []upward) bool {
	return !slices.ContainsFunc(pairs, func(u upward) bool { return u.Decision != stats.Same })
}

// levelsCompared are the levels of the comparisons that could be made, each once.
func (t testView) levelsCompared(pairs []upward) (out []string) {
	for _, u := range pairs {
		for _, level := range []string{t.level(u.from), t.level(u.to)} {
			out = addOnce(out, level)
		}
	}
	slices.SortFunc(out, natural)
	return out
}

// compared is the noun of what the effects of factors compare.
func (t testView) compared() string {
	if t.PlateauOf == "" {
		return t.noun()
	}
	return t.Sentence("factor.at_plateau", text.Args{"Noun": t.noun(), "Option": t.PlateauOf})
}

// hasCurve reports whether a curve says what the factor does.
func (t testView) hasCurve(factor string) bool {
	return t.Curve != nil && t.Curve.Option == factor || slices.ContainsFunc(t.Curves, func(c Curve) bool { return c.Option == factor })
}

// interval is the 95 % interval of a ratio, in percent if the ratio is, or "" if it has none.
func (t testView) interval(u upward) string {
	if u.low == nil || u.high == nil {
		return ""
	}
	return t.Sentence("factor.interval", text.Args{"Ratio": *u.ratio, "More": *u.ratio - 1, "Low": *u.low, "High": *u.high, "LowMore": *u.low - 1, "HighMore": *u.high - 1})
}

// size is a ratio, with the decimals of its interval if it has one.
func (t testView) size(u upward) string {
	args := text.Args{"Ratio": *u.ratio, "More": *u.ratio - 1, "Tested": u.low != nil && u.high != nil, "Low": 0.0, "High": 0.0, "LowMore": 0.0, "HighMore": 0.0}
	if u.low != nil && u.high != nil {
		args["Low"], args["High"], args["LowMore"], args["HighMore"] = *u.low, *u.high, *u.low-1, *u.high-1
	}
	return t.Sentence("factor.size", args)
}

// differs reports whether the two levels are shown to differ by the threshold or more.
func (u upward) differs() bool { return u.Decision == stats.Better || u.Decision == stats.Worse }

// pairsShown says which levels of a factor differ after the correction for all pairs, or
// returns "" for a factor of two levels.
func (t testView) pairsShown(pairs []upward) string {
	if len(pairs) < 2 {
		return ""
	}
	var shown, others []string
	for _, u := range pairs {
		name := t.Sentence("factor.pair", text.Args{"A": t.levelNamed(u.Factor, u.from), "B": t.level(u.to)})
		if u.differs() {
			shown = append(shown, name)
		} else {
			others = append(others, name)
		}
	}
	return t.Sentence("factor.pairs", text.Args{"Of": len(pairs), "Shown": len(shown), "Pairs": shown, "Others": others, "Named": len(pairs) <= mostNamedPairs, "ShownNamed": len(shown) <= fewPairs, "OthersNamed": len(others) <= fewPairs})
}

// mostPairs is how many pairs of levels of a factor a table shows: those of the largest ratios.
const mostPairs = 12

// upward is the comparison with its ratio at 1 or above: from the level of the smaller figure
// to that of the larger.
type upward struct {
	*LevelEffect
	from, to         string
	ratio, low, high *float64
}

func (e *LevelEffect) upward() upward {
	if e.Ratio == nil || *e.Ratio >= 1 {
		return upward{e, e.B, e.A, e.Ratio, e.Low, e.High}
	}
	return upward{e, e.A, e.B, inverse(e.Ratio), inverse(e.High), inverse(e.Low)}
}

// reversed is the comparison of B with A.
func (e LevelEffect) reversed() LevelEffect {
	e.A, e.B, e.Ratio, e.Low, e.High = e.B, e.A, inverse(e.Ratio), inverse(e.High), inverse(e.Low)
	e.Decision, e.Seen = reversed(e.Decision), reversed(e.Seen)
	return e
}

func inverse(ratio *float64) *float64 {
	if ratio == nil {
		return nil
	}
	return finite(1 / *ratio)
}

// pairsOf are the comparisons of a factor's levels, the largest ratio first; those that could
// not be made are left out.
func (t testView) pairsOf(factor string) (out []upward) {
	for i := range t.Effects {
		if e := &t.Effects[i]; e.Factor == factor && e.Ratio != nil {
			out = append(out, e.upward())
		}
	}
	slices.SortStableFunc(out, func(a, b upward) int { return cmp.Compare(*b.ratio, *a.ratio) })
	return out
}

// causes say what contention costs, what each factor does that matters or surely does not, which
// effects depend on the level of another factor, where curves level off and how flows are grouped.
// Factors come at the best level of tuning factors, and then those.
func (t testView) causes() (out []string) {
	out = t.contends()
	add := func(v testView, factors []FactorEffect) {
		for _, f := range factors {
			if !t.described(f) {
				out = append(out, v.cause(f, v.pairsOf(f.Factor)))
			}
		}
	}
	best := t.asCompared()
	add(testView{best, t.Catalogue}, best.FactorEffects)
	if best != t.Test {
		add(t, slices.DeleteFunc(slices.Clone(t.FactorEffects), func(f FactorEffect) bool { return slices.Contains(best.Factors, f.Factor) }))
	}
	out = slices.Concat(out, t.rangesApart(), t.dependencies(), []string{t.levelingOff(), t.hashing()})
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// described reports whether the headline, the answer about pairs or the sentence about contention says
// what the factor does.
func (t testView) described(f FactorEffect) bool {
	h := t.Headline
	if h != nil && h.Factor == f.Factor && h.OnAverage && (h.Code == AnswerBest || h.Code == AnswerBestSeen) && len(t.distinctLevels(slices.Index(t.Factors, f.Factor))) == 2 {
		return true
	}
	if t.Pairs == nil {
		return false
	}
	return f.Factor == t.Pairs.Factor && f.Matters == stats.MattersYes || f.Factor == contentionFactor && t.Pairs.Contention != nil
}

// interacts reports whether the effect of a factor is shown to depend on another.
func (t *Test) interacts(factor string) bool {
	return slices.ContainsFunc(t.Interactions, func(i Interaction) bool { return i.Shown > 0 && slices.Contains(i.Factors[:], factor) })
}

// mostInteractions is how many pairs of factors have a sentence that one depends on the other.
const mostInteractions = 3

// dependencies say which effects depend on another factor: those of the largest ratios, in the
// order of the factors.
func (t testView) dependencies() (out []string) {
	shown := slices.DeleteFunc(slices.Clone(t.Interactions), func(i Interaction) bool {
		ofPair := t.Pairs != nil && t.Pairs.Contention != nil && slices.Equal(i.Factors[:], []string{contentionFactor, t.Pairs.Factor})
		return i.Shown == 0 || ofPair
	})
	size := func(i Interaction) float64 { return math.Abs(math.Log(*i.Ratio)) }
	largest := slices.Clone(shown)
	slices.SortStableFunc(largest, func(a, b Interaction) int { return cmp.Compare(size(b), size(a)) })
	for k, i := range shown {
		if before := slices.IndexFunc(largest, func(l Interaction) bool { return l.Factors == i.Factors }); before < mostInteractions {
			out = append(out, t.depends(shown[k]))
		}
	}
	if more := len(shown) - len(out); more > 0 {
		out = append(out, t.Sentence("factor.depends.more", text.Args{"More": more}))
	}
	return out
}

// depends is the sentence of an interaction that is shown: what the first factor does at the
// level of the second at which it does more, and at the other; in documents of earlier
// versions by how much the two differ.
func (t testView) depends(i Interaction) string {
	args := text.Args{"Factor": i.Factors[0], "Other": i.Factors[1], "Noun": t.compared(), "By": t.units(i.EffectRatio)}
	if len(i.At) != 2 || i.At[0].Ratio == nil || i.At[1].Ratio == nil {
		ratio, at, than := *i.Ratio, i.B[0], i.B[1]
		if ratio < 1 {
			ratio, at, than = 1/ratio, than, at
		}
		args["A"], args["Over"], args["Ratio"], args["At"], args["Than"] = t.level(i.A[0]), t.level(i.A[1]), ratio, t.level(at), t.level(than)
		return t.Sentence("factor.depends", args)
	}
	most, least, at, than := i.At[0], i.At[1], i.B[0], i.B[1]
	if math.Abs(math.Log(*most.Ratio)) < math.Abs(math.Log(*least.Ratio)) {
		most, least, at, than = least, most, than, at
	}
	if *most.Ratio < 1 {
		most, least = most.reversed(), least.reversed()
	}
	args["From"], args["To"], args["First"], args["Second"] = t.level(most.B), t.level(most.A), t.effectAt(most, t.levelNamed(i.Factors[1], at)), t.effectAt(least, t.levelNamed(i.Factors[1], than))
	return t.Sentence("factor.depends.each", args)
}

// effectAt is what a factor does at a level of another.
func (t testView) effectAt(e LevelEffect, level string) string {
	args := text.Args{
		"Level": level, "Ratio": *e.Ratio, "More": *e.Ratio - 1, "Less": 1 - *e.Ratio, "Same": e.Decision == stats.Same,
		"Shown": e.Decision == stats.Better || e.Decision == stats.Worse, "Tested": e.Low != nil && e.High != nil,
	}
	if e.Low != nil && e.High != nil {
		args["Low"], args["High"], args["LowMore"], args["HighMore"] = *e.Low, *e.High, *e.Low-1, *e.High-1
	}
	return t.Sentence("factor.at", args)
}

// level writes a level; patterns may lack a factor.
func (t testView) level(name string) string { return cmp.Or(name, text.Absent) }

// units are the independent observations of an effect in words.
func (t testView) units(e EffectRatio) string {
	if t.Has("factor.unit." + string(e.Unit)) {
		return t.Sentence("factor.unit."+string(e.Unit), text.Args{"Blocks": e.Blocks})
	}
	return text.Absent // of a later version
}

// effectTable is what each factor does, with the levels that differ most. It has no columns if
// nothing is known of the factors.
func (t testView) effectTable() outline.Table {
	if len(t.FactorEffects) == 0 {
		return outline.Table{}
	}
	out := outline.NewTable(len(t.FactorEffects))
	largest := make([]upward, len(t.FactorEffects)) // empty if no levels could be compared
	for i, f := range t.FactorEffects {
		if pairs := t.pairsOf(f.Factor); len(pairs) > 0 {
			largest[i] = pairs[0]
		}
	}
	out.AddText(t.named("column.factor", outline.Column{Head: true}), func(i int) string { return t.FactorEffects[i].Factor })
	out.AddText(t.named("column.matters", outline.Column{}), func(i int) string {
		if m := t.FactorEffects[i].Matters; t.Has("cell.matters." + string(m)) {
			return t.Sentence("cell.matters."+string(m), nil)
		}
		return text.Absent
	})
	out.Add(t.named("column.share", outline.Column{Number: true, Drop: 1}), func(i int) outline.Cell { return shareCell(t.FactorEffects[i].Share) })
	t.addRatios(&out, func(i int) upward { return largest[i] })
	t.addLevels(&out, func(i int) upward { return largest[i] })
	out.AddText(t.named("column.compared_in", outline.Column{Drop: 3}), func(i int) string {
		if u := largest[i]; u.LevelEffect != nil {
			return t.units(u.EffectRatio)
		}
		return text.Absent
	})
	return out
}

// levelTable compares the levels of factors that have more than two. It has no columns if there
// is none.
func (t testView) levelTable() outline.Table {
	var shown []upward
	for _, f := range t.FactorEffects {
		if pairs := t.pairsOf(f.Factor); len(pairs) > 1 {
			shown = append(shown, pairs[:min(len(pairs), mostPairs)]...)
		}
	}
	if len(shown) == 0 {
		return outline.Table{}
	}
	out := outline.NewTable(len(shown))
	out.AddText(t.named("column.factor", outline.Column{Head: true}), func(i int) string { return shown[i].Factor })
	t.addRatios(&out, func(i int) upward { return shown[i] })
	t.addLevels(&out, func(i int) upward { return shown[i] })
	out.AddText(t.named("column.decision", outline.Column{Drop: 1}), func(i int) string {
		d := shown[i].Decision
		if shown[i].from == shown[i].A { // the decision is of A
			d = reversed(d)
		}
		if t.Has("cell.decision." + string(d)) {
			return t.Sentence("cell.decision."+string(d), nil)
		}
		return text.Absent
	})
	return out
}

// reversed is the decision of the second level against the first.
func reversed(d stats.Decision) stats.Decision {
	switch d {
	case stats.Better:
		return stats.Worse
	case stats.Worse:
		return stats.Better
	}
	return d
}

// addRatios adds the ratios of two levels.
func (t testView) addRatios(out *outline.Table, of func(i int) upward) {
	addFigures(out, t.named("column.ratio", outline.Column{Number: true}), one, func(i int) *float64 { return of(i).ratio })
	t.addIntervals(out, t.named("column.ratio_interval", outline.Column{Number: true, Drop: 2}), one, one.text, func(i int) (low, high *float64) { return of(i).low, of(i).high })
}

// addLevels adds the two levels, that of the smaller figure first.
func (t testView) addLevels(out *outline.Table, of func(i int) upward) {
	out.AddText(t.named("column.from", outline.Column{Drop: 1}), func(i int) string { return t.level(of(i).from) })
	out.AddText(t.named("column.to", outline.Column{With: true}), func(i int) string { return t.level(of(i).to) })
}

// cutPairs reports whether a factor has more pairs of levels than are shown.
func (t testView) cutPairs() bool {
	return slices.ContainsFunc(t.FactorEffects, func(f FactorEffect) bool { return len(t.pairsOf(f.Factor)) > mostPairs })
}
