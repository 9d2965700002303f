package report

import (
	"slices"

	"soku/internal/measure"
)

// whyNot is why a choice has no comparison: with the first, or of the first with the second.
func whyNot(choices []*Choice, place int) error {
	a, b := choices[place], choices[0]
	if place == 0 {
		b = choices[1]
	}
	for _, c := range []*Choice{a, b} {
		if len(successful(c.Results)) == 0 {
			return measure.Fail(measure.KindUsage, "report.compare.failed", measure.Figures{"choice": c.Name, "trials": len(c.Results)})
		}
	}
	names := measure.Figures{"a": a.Name, "b": b.Name}
	with := func(more measure.Figures) measure.Figures {
		for k, v := range names {
			more[k] = v
		}
		return more
	}
	kinds := func(c *Choice) []string {
		return distinctTexts(c.Results, func(r *measure.Result) string { return string(r.Test) })
	}
	common := slices.DeleteFunc(kinds(a), func(k string) bool { return !slices.Contains(kinds(b), k) })
	families := familiesOf([]*Choice{a, b})
	shared := func(f family) bool { return len(f.members) > 1 }
	switch {
	case overlapping(a.Results, b.Results):
		return measure.Fail(measure.KindUsage, "report.compare.shared", names)
	case len(common) == 0:
		return measure.Fail(measure.KindUsage, "report.compare.tests", with(measure.Figures{"a_tests": testsWithUnits(a), "b_tests": testsWithUnits(b)}))
	case !slices.ContainsFunc(families, shared) && captureDiffers(families):
		return measure.Fail(measure.KindUsage, "report.compare.capture", names)
	case !slices.ContainsFunc(families, shared):
		return measure.Fail(measure.KindUsage, "report.compare.labels", with(measure.Figures{"a_labels": labelsOf(a), "b_labels": labelsOf(b)}))
	}
	for _, c := range []*Choice{a, b} {
		if !slices.ContainsFunc(successful(c.Results), hasFigure) {
			return measure.Fail(measure.KindUsage, "report.compare.no_figure", measure.Figures{"choice": c.Name})
		}
	}
	return measure.Fail(measure.KindUsage, "report.compare.patterns", with(measure.Figures{"a_patterns": patternsOf(a), "b_patterns": patternsOf(b)}))
}

// hasFigure reports whether a result has the figure by which its test is ranked.
func hasFigure(r *measure.Result) bool {
	v, ok := measure.RankingMetric(r.Test, []*measure.Result{r}).Value(r)
	return ok && plausible(v)
}

// mostNamed is how many tests or patterns a failure names.
const mostNamed = 6

// distinctTexts are the texts of results, each once, in their order.
func distinctTexts(results []*measure.Result, of func(*measure.Result) string) (out []string) {
	for _, r := range results {
		if s := of(r); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// testsWithUnits names the tests of a choice, each with the unit of its figure.
func testsWithUnits(c *Choice) []string {
	return distinctTexts(c.Results, func(r *measure.Result) string {
		return string(r.Test) + " (" + measure.RankingMetric(r.Test, []*measure.Result{r}).Unit + ")"
	})
}

func labelsOf(c *Choice) []string {
	return some(distinctTexts(c.Results, func(r *measure.Result) string {
		if r.Trial == nil {
			return string(r.Test)
		}
		return r.Trial.Label
	}))
}

func patternsOf(c *Choice) []string {
	return some(distinctTexts(c.Results, func(r *measure.Result) string {
		if r.Trial == nil {
			return r.Path.String()
		}
		return r.Trial.Pattern
	}))
}

// some are the first of many names.
func some(names []string) []string {
	if len(names) > mostNamed {
		return append(names[:mostNamed:mostNamed], "…")
	}
	return names
}

// captureDiffers reports whether two families differ in the capture only.
func captureDiffers(families []family) bool {
	return slices.ContainsFunc(families, func(f family) bool {
		return slices.ContainsFunc(families, func(o family) bool { return o.label == f.label && o.test == f.test && o.capture != f.capture })
	})
}
