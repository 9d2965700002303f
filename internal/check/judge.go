package check

import (
	"cmp"
	"math"
	"slices"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/report"
	"soku/internal/yamlfile"
)

// Baselines finds what a rule calls a baseline. [Rules.Judge] asks for each name once.
type Baselines func(name string) (*report.Choice, error)

// Judge applies the rules to what was measured. An error is of kind file and says where the
// rule stands that cannot be applied: it selects no trial, no selected test has its figure,
// or its baseline has nothing to compare with. Errors of kind store and interrupted are those
// of baseline.
func (r *Rules) Judge(subject *report.Choice, baseline Baselines) (*Outcome, error) {
	out := &Outcome{Subject: subject.Name}
	found := map[string]*report.Choice{} // a campaign takes long to read
	once := func(name string) (choice *report.Choice, err error) {
		if found[name] == nil {
			found[name], err = baseline(name)
		}
		return found[name], err
	}
	for i := range r.Rules {
		rule := &r.Rules[i]
		at, _ := r.file.PlaceOf(place(i))
		judged := RuleOutcome{Rule: *rule, Line: at.Line, Verdict: Holds}
		selected, err := rule.selected(subject)
		if err == nil {
			judged.Patterns, err = rule.judge(selected, once)
		}
		switch kind := measure.KindOf(err); {
		case err == nil:
		case kind == measure.KindStore || kind == measure.KindInterrupted: // no mistake in the file
			return nil, err
		default:
			return nil, r.file.LocateAt(place(i)+".check", err)
		}
		for _, p := range judged.Patterns {
			judged.Verdict = worse(judged.Verdict, p.Verdict)
		}
		out.Rules = append(out.Rules, judged)
	}
	return out, nil
}

// selected is what the rule is about. A factor that sets nothing in a test does not select
// there.
func (r *Rule) selected(all *report.Choice) (*report.Choice, error) {
	out := *all
	out.Results = nil
	var labels, patterns []string
	for _, x := range all.Results {
		label, pattern, levels := string(x.Test), x.Path.String(), []measure.Level(nil)
		if t := x.Trial; t != nil {
			label, pattern, levels = cmp.Or(t.Label, label), t.Pattern, t.Levels
		}
		labels, patterns = noted(labels, label), noted(patterns, pattern)
		where := slices.DeleteFunc(slices.Clone(r.Where), func(e yamlfile.Entry[[]string]) bool { return slices.Contains(all.Unvaried[label], e.Name) })
		if (r.Test == "" || r.Test == label || r.Test == string(x.Test)) && where.Matches(levels) {
			out.Results = append(out.Results, x)
		}
	}
	if len(out.Results) == 0 {
		return nil, measure.Fail(measure.KindFile, "check.selects_none", measure.Figures{"subject": all.Name, "labels": labels, "patterns": patterns})
	}
	return &out, nil
}

// mostNoted is how many names a failure has.
const mostNoted = 8

// noted is names with one more, if it is new and there are not many.
func noted(names []string, name string) []string {
	switch {
	case slices.Contains(names, name) || len(names) > mostNoted:
		return names
	case len(names) == mostNoted:
		return append(names, "…")
	}
	return append(names, name)
}

func (r *Rule) judge(selected *report.Choice, baseline Baselines) ([]Judgement, error) {
	e := &r.Check
	if e.Metric != nil {
		tests := e.Metric.Tests()
		if !slices.ContainsFunc(selected.Results, func(x *measure.Result) bool { return slices.Contains(tests, x.Test) }) {
			return nil, measure.Fail(measure.KindFile, "check.figure_of_none", measure.Figures{"figure": e.Metric.Key, "tests": tests})
		}
	}
	if e.Baseline != "" {
		return e.differences(selected, baseline)
	}
	var samples []report.Sample
	unlimited := 0 // patterns whose figure has no limit
	for _, s := range selected.Samples() {
		switch {
		case e.Metric != nil && !slices.Contains(e.Metric.Tests(), s.Test):
		case e.Form == OfLimit && s.Limit(e.Metric) == nil:
			unlimited++
		default:
			samples = append(samples, s)
		}
	}
	out := e.samples(samples, e.Level)
	if selected.Single && e.Form != Width {
		for i, j := range out {
			if j.Reason == FewRounds {
				out[i] = e.single(j)
			}
		}
	}
	measured := slices.ContainsFunc(out, func(j Judgement) bool { return j.Reason != NoValue })
	e.correct(out, func(level float64) []Judgement { return e.samples(samples, level) })
	if len(out) == 0 && unlimited > 0 {
		return nil, measure.Fail(measure.KindFile, "check.no_limit", measure.Figures{"figure": e.Metric.Key})
	}
	if r.Test == "" && measured { // tests none of whose trials have the figure are not meant
		out = slices.DeleteFunc(out, func(j Judgement) bool { return j.Reason == NoValue && j.Trials > 0 })
	}
	return out, nil
}

// samples judges patterns by their intervals at a confidence level.
func (e *Expression) samples(all []report.Sample, level float64) (out []Judgement) {
	intervals := make([]report.Interval, len(all))
	switch e.Form {
	case Failures:
	case Width: // of each pattern by itself
		for i := range all {
			intervals[i] = all[i].Interval(e.Metric, level)
		}
	default:
		intervals = report.Intervals(all, e.Metric, level)
	}
	for i := range all {
		out = append(out, e.sample(&all[i], intervals[i]))
	}
	return out
}

// sample judges one pattern by an interval.
func (e *Expression) sample(s *report.Sample, i report.Interval) Judgement {
	j := Judgement{Label: s.Label, Test: s.Test, Pattern: s.Pattern, Levels: s.Levels, Metric: e.Metric, Trials: s.Trials, Failed: s.Failed,
		Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
	if e.Form == Failures {
		j.Value = float64(s.Failed) / float64(s.Failed+s.Trials)
		return j.exactly(j.Value <= e.Value)
	}
	j.Value, j.Low, j.High, j.Rounds = i.Value, i.Low, i.High, i.Rounds
	if e.Form == OfLimit {
		j.Limit = s.Limit(e.Metric)
		j.Value, j.Low, j.High = i.Value/j.Limit.Value, i.Low/j.Limit.Value, i.High/j.Limit.Value
	}
	tooFew := Reason("")
	switch {
	case i.TooFew:
		tooFew = FewSamples
	case math.IsNaN(i.Value):
		tooFew = NoValue
	case i.Rounds < 2:
		tooFew = FewRounds
	}
	if e.Form == Width && tooFew == "" && !math.IsNaN(i.Low) {
		width := 0.0
		if half := max(i.High-i.Value, i.Value-i.Low); half > 0 {
			width = half / i.Value
		}
		j.Value, j.Low, j.High = width, math.NaN(), math.NaN()
		return j.exactly(width <= e.Value)
	}
	from, to := math.Inf(-1), e.Value
	if e.AtLeast {
		from, to = e.Value, math.Inf(1)
	}
	return j.within(from, to, tooFew)
}

// single judges one trial by its figure, because it has no interval.
func (e *Expression) single(j Judgement) Judgement {
	j.Single, j.Reason = true, ""
	if e.AtLeast {
		return j.exactly(j.Value >= e.Value)
	}
	return j.exactly(j.Value <= e.Value)
}

// differences judges the patterns that the baseline has, too.
func (e *Expression) differences(selected *report.Choice, baseline Baselines) ([]Judgement, error) {
	base, err := baseline(e.Baseline)
	if err != nil {
		return nil, err
	}
	compared, err := report.Compare([]*report.Choice{base, selected}, report.CompareOptions{Metric: e.Metric})
	if err != nil {
		return nil, err
	}
	at := func(level float64) []Judgement { return e.compared(compared, level) }
	out := at(e.Level)
	e.correct(out, at)
	return out, nil
}

// compared judges comparisons with a baseline at a confidence level.
func (e *Expression) compared(compared *report.Comparisons, level float64) (out []Judgement) {
	for i := range compared.Tests {
		t := &compared.Tests[i]
		for _, p := range t.Pairs {
			a := t.Choices[p.A]
			j := Judgement{Label: t.Label, Test: t.Test, Metric: t.Metric, Trials: a.Trials, Failed: a.Failed, Rounds: a.Rounds, Apart: p.Apart,
				Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
			if len(t.Same) > 0 {
				j.Pattern = measure.JoinLevels(t.Same)
			}
			j.Levels = slices.DeleteFunc(slices.Clone(t.Same), func(l measure.Level) bool { return l.Factor == "" })
			from, to := e.band(t.Metric.Better == metric.Higher, compared.Practical)
			tooFew := NoInterval
			if c := t.Interval(p, level); c.Ratio {
				j.Value, j.Low, j.High, tooFew = 1+c.Difference, 1+c.Low, 1+c.High, FewRounds
			}
			if j = j.within(from, to, tooFew); j.Verdict != NotShown && !p.Enough {
				j.Verdict, j.Reason = NotShown, FewRounds
			}
			out = append(out, j)
		}
	}
	return out
}

// band is the ratios to the baseline with which a difference is as it has to be. practical is
// the smallest difference that matters.
func (e *Expression) band(higherIsBetter bool, practical float64) (from, to float64) {
	by := e.Value
	if e.Practical {
		by = practical
	}
	from, to = math.Inf(-1), math.Inf(1)
	switch {
	case e.Form == SameAs:
		return 1 - by, 1 + by
	case e.Form == NoWorse && higherIsBetter:
		from = 1 - by
	case e.Form == NoWorse:
		to = 1 + by
	case higherIsBetter:
		from = 1 + by
	default:
		to = 1 - by
	}
	return from, to
}

// within gives the judgement its verdict by where its interval lies. tooFew is the reason if
// there is no interval.
func (j Judgement) within(from, to float64, tooFew Reason) Judgement {
	switch {
	case math.IsNaN(j.Low) || math.IsNaN(j.High):
		j.Verdict, j.Reason = NotShown, cmp.Or(tooFew, NoInterval)
	case j.Low >= from && j.High <= to:
		j.Verdict = Holds
	case j.High < from || j.Low > to:
		j.Verdict = DoesNotHold
	default:
		j.Verdict, j.Reason = NotShown, Crosses
	}
	return j
}

// exactly is the verdict of what has no interval.
func (j Judgement) exactly(holds bool) Judgement {
	j.Verdict = DoesNotHold
	if holds {
		j.Verdict = Holds
	}
	return j
}
