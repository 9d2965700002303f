package report

import (
	"slices"

	"soku/internal/measure/metric"
	"soku/internal/text"
)

// answer is the sentence that a reader takes away from a test.
func (t testView) answer() string {
	a := t.Answer
	m := t.Basis.Metric
	patterns, estimates := make([]string, len(a.First)), make([]float64, len(a.First))
	for i, e := range a.First {
		patterns[i], estimates[i] = e.Pattern, e.Estimate
	}
	names, next, shared := t.callFirst(patterns, a.Next)
	switch a.Code {
	case AnswerBest, AnswerBestSeen, AnswerBestOtherRun, AnswerBestUntested:
		args := text.Args{
			"Interval": false, "With": "", "OnAverage": false, "First": t.called(patterns[0]), "Metric": m, "Noun": t.noun(), "Estimate": estimates[0], "Next": t.called(a.Next.Pattern),
			"NextEstimate": a.Next.Estimate, "Ratio": ahead(m, estimates[0], *a.Next, a.Ratio), "Rounds": 0, "Untested": a.Rounds, "Seen": a.Code == AnswerBestSeen, "OtherRun": a.Code == AnswerBestOtherRun,
		}
		if a.Code == AnswerBest || a.Code == AnswerBestSeen {
			args["Rounds"] = a.Rounds
		}
		return t.best(args)
	case AnswerEqualUntested:
		return t.Sentence("answer.equal_untested", text.Args{"Rounds": a.Rounds, "Patterns": names, "Shared": t.shared(shared), "Metric": m, "Estimate": estimates[0]})
	case AnswerNoDifference, AnswerNoDifferenceOtherRun:
		return t.Sentence("answer.no_difference", text.Args{"Patterns": names, "Shared": t.shared(shared), "Metric": m, "Estimates": estimates, "Rounds": a.Rounds, "OtherRun": a.Code == AnswerNoDifferenceOtherRun})
	case AnswerNoneAhead, AnswerNoneAheadOtherRun:
		return t.Sentence("answer.none_ahead", text.Args{
			"Patterns": names, "Shared": t.shared(shared), "Metric": m, "Estimates": estimates, "Next": next, "NextEstimate": a.Next.Estimate, "Rounds": a.Rounds,
			"OtherRun": a.Code == AnswerNoneAheadOtherRun,
		})
	case AnswerPairs:
		return t.pairsAnswer()
	case AnswerSingle:
		return t.Sentence("answer.single", text.Args{
			"Pattern": t.called(patterns[0]), "Noun": t.noun(), "Metric": m, "Estimate": estimates[0], "Trials": a.Trials, "Lowest": a.Lowest, "Highest": a.Highest,
		})
	case AnswerAllFailed:
		return t.allFailed()
	case AnswerTargetSilent:
		return t.Sentence("answer.target_silent", nil)
	}
	return t.Sentence("answer.nothing_to_compare", text.Args{"Noun": t.noun()})
}

// best is the sentence of what is alone among the best.
func (t testView) best(args text.Args) string {
	m := t.Basis.Metric
	args["Basis"] = t.Sentence("answer.basis", args)
	// Compared within rounds, the next may be behind with a better figure.
	first, next := args["Estimate"].(float64), args["NextEstimate"].(float64)
	args["NextFigure"] = (first >= next) == (m.Better == metric.Higher)
	if m.Better == metric.Higher {
		args["Ahead"] = t.Sentence("answer.ahead.higher", args)
		return t.SentenceFor(m.Key, "answer.best.higher", args)
	}
	args["Ahead"] = t.Sentence("answer.ahead.lower", args)
	return t.SentenceFor(m.Key, "answer.best.lower", args)
}

// mostFurther is how many sentences follow the headline of a test, caveats counted; the others are
// further findings.
const mostFurther = 3

// said are the headline and the sentences that stand with it, the caveats that do, and what is left of
// both.
func (t testView) said() (first, caveats, further []string) {
	all, caveats := t.sentences(), t.caveats()
	warned := min(len(caveats), max(1, mostFurther+1-len(all)))
	kept := min(len(all), 1+mostFurther-warned)
	return all[:kept], caveats[:warned], slices.Concat(all[kept:], caveats[warned:])
}

// sentences are the sentences about a test, at least one: the headline, then the most important ones
// first.
func (t testView) sentences() []string {
	headline, same := t.headline(), t.same()
	if t.Headline != nil && t.Headline.Code == AnswerSame {
		same = ""
	}
	rest := slices.Concat(
		[]string{t.order()}, t.contends(), t.limitsReached(), []string{t.limited(), t.hashing()}, t.causes(), t.controls(), []string{t.ungrouped(), same, t.despite()},
	)
	out := []string{t.Capital(headline)}
	for _, s := range rest {
		if s = t.Capital(s); s != "" {
			out = addOnce(out, s)
		}
	}
	return out
}

// mostOrdered is how many levels or patterns a sentence lists with their figures.
const mostOrdered = 8

// order says the best figure of each level of the headline's factor, best first, or the figures of the
// first patterns where the campaign asks for these. It returns "" for two, which the headline names, and for
// many levels.
func (t testView) order() string {
	var each []string
	add := func(name string, estimate float64) {
		each = append(each, t.Sentence("answer.order.each", text.Args{"Name": name, "Metric": t.Basis.Metric, "Estimate": estimate}))
	}
	switch {
	case t.byPatterns:
		for _, p := range t.Ranking[:min(len(t.Ranking), mostOrdered)] {
			if p.Estimate != nil {
				add(t.called(p.Pattern), *p.Estimate)
			}
		}
		if len(each) > 2 {
			return t.Sentence("answer.order.patterns", text.Args{"Each": each})
		}
	case t.Headline != nil && len(t.Headline.First) > 0:
		for _, l := range t.asCompared().levelsOf(t.Headline.Factor) {
			add(t.level(l.name), *l.Estimate)
		}
		if len(each) > 2 && len(each) <= mostOrdered {
			return t.Sentence("answer.order", text.Args{"Factor": t.Headline.Factor, "Noun": t.noun(), "Each": each})
		}
	}
	return ""
}

func (t testView) allFailed() string {
	n, c := t.Answer.Trials, t.Answer.Cause
	if c == nil {
		return t.Sentence("answer.no_trial", nil)
	}
	message, hint := t.Error(c.Error)
	return t.Sentence("answer.all_failed", text.Args{"N": n, "Cause": message, "Hint": hint, "Most": c.Trials, "Others": n - c.Trials})
}

// despite says why a pattern is not among the first although its figure is better than that of one of
// them, or returns "" if there is none.
func (t testView) despite() string {
	better := func(a, b float64) bool { return a != b && (a > b) == (t.Basis.Metric.Better == metric.Higher) }
	for _, p := range t.Ranking {
		if p.RankLow == 0 || p.Best || p.Estimate == nil || !slices.ContainsFunc(t.Answer.First, func(e Estimate) bool { return better(*p.Estimate, e.Estimate) }) {
			continue
		}
		return t.Sentence("answer.despite", text.Args{"Pattern": t.called(p.Pattern), "Metric": t.Basis.Metric, "Estimate": *p.Estimate, "Reason": t.because(p)})
	}
	return ""
}

// ahead is the first pattern's value over the next one's, or the inverse for a metric such as
// time: as compared, if that is known. It is 0 if the ratio is unknown.
func ahead(m *metric.Definition, first float64, next Estimate, compared *float64) float64 {
	if first <= 0 || next.Estimate <= 0 {
		return 0
	}
	ratio := first / next.Estimate
	if compared != nil {
		ratio = *compared
	}
	if m.Better == metric.Higher {
		return ratio
	}
	return 1 / ratio
}
