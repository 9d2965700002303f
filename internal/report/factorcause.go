package report

import (
	"slices"

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
		return t.Sentence("factor.sets", args) + t.pairsShown(pairs)
	case f.Matters == stats.MattersYes:
		return t.Sentence("factor.changes", args) + t.pairsShown(pairs)
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
			if !slices.Contains(out, level) {
				out = append(out, level)
			}
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
		name := t.Sentence("factor.pair", text.Args{"A": t.level(u.from), "B": t.level(u.to)})
		if u.differs() {
			shown = append(shown, name)
		} else {
			others = append(others, name)
		}
	}
	return " " + t.Sentence("factor.pairs", text.Args{"Of": len(pairs), "Shown": len(shown), "Pairs": shown, "Others": others, "Named": len(pairs) <= mostNamedPairs, "ShownNamed": len(shown) <= fewPairs, "OthersNamed": len(others) <= fewPairs})
}
