package report

import (
	"cmp"
	"slices"
	"strconv"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/stats"
	"soku/internal/text"
)

// findHeadline is what the test shows of what the campaign asks about, or nil where the order of the
// patterns says it. question is a factor or one of [measure.Questions], or "".
func (t *Test) findHeadline(question string) *Answer {
	codes := []AnswerCode{AnswerBest, AnswerBestSeen, AnswerBestUntested, AnswerEqualUntested, AnswerNoDifference, AnswerNoneAhead, AnswerPairs}
	if t.ByHand || !slices.Contains(codes, t.Answer.Code) || t.Pairs != nil && question == "" {
		return nil
	}
	switch {
	case question == measure.QuestionPatterns:
		return nil
	case question == measure.QuestionLimit && len(t.Reached) > 0:
		return &Answer{Code: AnswerLimit, Rounds: t.Rounds}
	case question == measure.QuestionContention && t.Pairs != nil && t.Pairs.Contention != nil && t.Pairs.Contention.Overall.Ratio != nil:
		return &Answer{Code: AnswerContention, Rounds: t.Rounds}
	}
	if curve := t.levelledFactor(); curve != "" && (curve == t.asked || t.asked != question && t.allCurves()[0].Searched) {
		return &Answer{Code: AnswerCurve, Factor: curve, Rounds: t.Rounds}
	}
	h := t.asCompared().headlineOf(t.asked)
	if t.AtBest == nil || h != nil && h.Code == AnswerBest || t.interacts(t.asked) {
		return h
	}
	// Trials at one level may be too few: where the factor is not shown to depend on the tuning
	// factors, those at all levels may decide.
	if all := t.headlineOf(t.asked); all != nil && all.Code == AnswerBest && all.OnAverage {
		return all
	}
	return h
}

// headlineOf is the headline about a factor, or nil if it has no two levels with figures.
func (t *Test) headlineOf(factor string) *Answer {
	levels := t.levelsOf(factor)
	if len(levels) < 2 {
		return nil
	}
	a := &Answer{Code: AnswerUndecided, Factor: factor, Rounds: t.Rounds}
	h := t.fromEffects(a, levels)
	if h == nil {
		h = t.fromPatterns(a, levels)
	}
	if h != nil && h.Code != AnswerSame {
		h.With = append(h.With, t.Tuned...)
	}
	return h
}

// levelledFactor is the factor of the curves, or "" if none of them levels off.
func (t *Test) levelledFactor() string {
	for _, c := range t.allCurves() {
		if c.Highest != nil || c.knee() != nil && c.Plateau != nil {
			return c.Option
		}
	}
	return ""
}

// levelBest is a level of a factor with the place of its best pattern.
type levelBest struct {
	name string
	*Place
	best bool
}

// levelsOf are the levels of a factor in the order of their best patterns.
func (t *Test) levelsOf(factor string) (out []levelBest) {
	for i := range t.Ranking {
		p := &t.Ranking[i]
		if p.Rank == 0 {
			continue
		}
		name := levelOf(t.levelsOfPattern(p.Pattern), factor)
		if !slices.ContainsFunc(out, func(l levelBest) bool { return l.name == name }) {
			out = append(out, levelBest{name: name, Place: p})
		}
	}
	return out
}

func (t *Test) levelsOfPattern(pattern string) []measure.Level { return t.rowOf(pattern).Levels }

// askedFactor is the factor that the plan asks about; without one, the only one that is no option of the
// test, and otherwise that of the largest share.
func (t *Test) askedFactor(question string) string {
	var asked, others []string
	for _, f := range separable(t.levelTexts(), len(t.Factors)) {
		if asked = append(asked, t.Factors[f]); !t.setsOption(f) {
			others = append(others, t.Factors[f])
		}
	}
	if slices.Contains(asked, question) {
		return question
	}
	if len(others) > 0 {
		asked = others
	}
	slices.SortStableFunc(asked, func(a, b string) int { return cmp.Compare(t.shareOf(b), t.shareOf(a)) })
	return append(asked, "")[0]
}

// levelTexts are the levels of the rows that have figures.
func (t *Test) levelTexts() (out [][]string) {
	for _, r := range t.Rows {
		if len(r.Values) > 0 {
			row := make([]string, len(r.Levels))
			for i, l := range r.Levels {
				row[i] = l.Value
			}
			out = append(out, row)
		}
	}
	return out
}

func (t *Test) effectOf(factor string) *FactorEffect {
	i := slices.IndexFunc(t.FactorEffects, func(f FactorEffect) bool { return f.Factor == factor })
	if i < 0 {
		return nil
	}
	return &t.FactorEffects[i]
}

func (t *Test) shareOf(factor string) float64 {
	if f := t.effectOf(factor); f != nil {
		return f.Share
	}
	return 0
}

// fromEffects is the headline where the levels are decided on average over the other factors, and what
// the factor does is not shown to depend on one of them. Otherwise it is nil.
func (t *Test) fromEffects(a *Answer, levels []levelBest) *Answer {
	f := t.effectOf(a.Factor)
	if f == nil || t.interacts(a.Factor) {
		return nil
	}
	if f.Matters == stats.MattersNo {
		a.Code, a.OnAverage = AnswerSame, true
		return a
	}
	effect := func(of, over string) (e LevelEffect) {
		for _, e := range t.Effects {
			switch {
			case e.Factor != a.Factor || e.Ratio == nil:
			case e.A == of && e.B == over:
				return e
			case e.A == over && e.B == of:
				return e.reversed()
			}
		}
		return e
	}
	decided, best := false, false
	for i := range levels {
		levels[i].best = !slices.ContainsFunc(levels, func(o levelBest) bool {
			e := effect(levels[i].name, o.name)
			return e.Decision == stats.Worse || e.Seen == stats.Worse
		})
		decided, best = decided || !levels[i].best, best || levels[i].best
	}
	if !decided || !best { // with missing trials each may be behind another
		return nil
	}
	first, second := t.conclude(a, levels)
	e := effect(first.name, second.name)
	a.Ratio, a.Low, a.High, a.OnAverage = e.Ratio, e.Low, e.High, true
	if a.Rounds = cmp.Or(e.Blocks, a.Rounds); a.Code == AnswerBest && e.Decision == stats.NotShown && e.Seen != "" {
		a.Code = AnswerBestSeen
	}
	return a
}

// fromPatterns is the headline of levels at the best combinations of the other factors' levels. Those of
// patterns among the best are the best. Of several, those are too that no comparison shows to be behind
// the first: the set of the best keeps each best level, but of levels that are alike it leaves out one
// in 7 % of campaigns.
func (t *Test) fromPatterns(a *Answer, levels []levelBest) *Answer {
	among := len(slices.DeleteFunc(slices.Clone(levels), func(l levelBest) bool { return !l.Best }))
	tested := among > 0
	for i, l := range levels {
		levels[i].best = l.Best || among > 1 && l.Rank == 1 || !tested && i == 0
	}
	first, second := t.conclude(a, levels)
	if !tested && *first.Estimate == *second.Estimate {
		return nil
	}
	if a.Code == AnswerUndecided && len(levels) == len(t.Ranking) && !slices.ContainsFunc(levels, func(l levelBest) bool { return l.Place != first.Place && !l.Same }) {
		a.Code = AnswerSame
		return a
	}
	a.Ratio = finite(*first.Estimate / *second.Estimate)
	if c := second.behind; c != nil && c.Ratio && first.behind == nil && c.Tested() {
		a.Ratio, a.Low, a.High = finite(1/(1+c.Difference)), finite(1/(1+c.High)), finite(1/(1+c.Low))
		if a.Rounds = cmp.Or(c.Rounds, a.Rounds); a.Code == AnswerUndecided && c.Needed > c.Rounds {
			a.NeededRounds = c.Needed
		}
		if a.Code == AnswerBest && c.Seen {
			a.Code = AnswerBestSeen
		}
	}
	if !tested {
		a.Code = AnswerBestUntested
	}
	return a
}

// conclude fills in the best levels, the next one, and the levels of the other factors with the first of
// them. It returns the two levels whose ratio says most: the first, and the next or the second.
func (t *Test) conclude(a *Answer, levels []levelBest) (first, second levelBest) {
	for _, l := range levels {
		e := Estimate{Pattern: l.Pattern, Estimate: *l.Estimate, Level: l.name}
		switch {
		case l.best:
			if a.First = append(a.First, e); len(a.First) == 1 {
				first = l
			} else if len(a.First) == 2 {
				second = l
			}
		case a.Next == nil:
			a.Next = &e
		}
	}
	switch {
	case a.Next == nil:
	case len(a.First) == 1:
		a.Code = AnswerBest
		second = levels[slices.IndexFunc(levels, func(l levelBest) bool { return l.Pattern == a.Next.Pattern })]
	default:
		a.Code = AnswerNoneAhead
	}
	for f, l := range t.levelsOfPattern(first.Pattern) {
		if set := t.levelTexts(); !occursWithOne(set, slices.Index(t.Factors, a.Factor), f) {
			a.With = append(a.With, l)
		}
	}
	return first, second
}

// headline is the sentence that a reader takes away from a test.
func (t testView) headline() string {
	h := t.Headline
	if h == nil {
		return t.answer()
	}
	switch h.Code {
	case AnswerCurve:
		return t.levelingOff()
	case AnswerLimit:
		return t.limitsReached()[0]
	case AnswerContention:
		return t.contends()[0]
	}
	return testView{t.asCompared(), t.Catalogue}.aboutFactor(h)
}

// aboutFactor is the sentence of a headline about the levels of a factor.
func (t testView) aboutFactor(h *Answer) string {
	m := t.Basis.Metric
	var names []string
	for _, e := range h.First {
		names = append(names, t.levelNamed(h.Factor, e.Level))
	}
	if len(h.First) > 0 && h.Code != AnswerUndecided { // a level alone may mean nothing, such as on or none
		names[0] = t.Sentence("compare.level", text.Args{"Factor": h.Factor, "Level": t.level(h.First[0].Level)})
	}
	args := text.Args{
		"Factor": h.Factor, "Levels": names, "Noun": t.noun(), "Metric": m, "Rounds": h.Rounds, "Practical": t.Practical, "OnAverage": h.OnAverage, "With": "",
		"Interval": h.Low != nil && h.High != nil, "Needed": h.NeededRounds, "Next": "", "NextEstimate": 0.0,
	}
	if h.Ratio != nil && h.Low != nil && h.High != nil {
		args["Ratio"], args["Low"], args["High"] = *h.Ratio, *h.Low, *h.High
	}
	if h.Next != nil {
		args["Next"], args["NextEstimate"] = t.levelNamed(h.Factor, h.Next.Level), h.Next.Estimate
	}
	switch h.Code {
	case AnswerSame:
		if f := t.effectOf(h.Factor); h.OnAverage {
			return t.cause(*f, t.pairsOf(h.Factor))
		}
		return t.Sentence("answer.factor_same", args)
	case AnswerUndecided:
		return t.Sentence("answer.undecided", args)
	case AnswerNoneAhead:
		var led []float64
		for _, e := range h.First {
			led = append(led, e.Estimate)
		}
		args["Least"], args["Most"] = stats.Range(led)
		return t.Sentence("answer.factor_none_ahead", args)
	}
	args["First"], args["Estimate"], args["With"] = names[0], h.First[0].Estimate, t.levelsText(t.impliedLevels().telling(h.With))
	args["Untested"], args["Seen"], args["OtherRun"] = h.Rounds, h.Code == AnswerBestSeen, false
	args["Ratio"] = ahead(m, h.First[0].Estimate, *h.Next, h.Ratio)
	if h.Code == AnswerBestUntested {
		args["Rounds"] = 0
	}
	if h.Low != nil && h.High != nil {
		low, high := *h.Low, *h.High
		if m.Better == metric.Lower {
			low, high = 1/high, 1/low
		}
		args["Low"], args["High"], args["LowMore"], args["HighMore"] = low, high, low-1, high-1
	}
	return t.best(args)
}

// levelNamed is how a sentence names a level: a number with its factor.
func (t testView) levelNamed(factor, level string) string {
	if _, err := strconv.ParseFloat(level, 64); err == nil && factor != "" {
		return factor + " " + level
	}
	return t.level(level)
}
