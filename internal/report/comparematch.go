package report

import (
	"cmp"
	"slices"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/stats"
)

// familyMember is the results of one choice in a family.
type familyMember struct {
	place  int // of the choice
	choice *Choice
	group  labelled
}

// family is what choices have of one test: the members that may be compared. A choice has
// one of them at most.
type family struct {
	label   string
	test    measure.Test
	capture capture
	members []familyMember
}

// familiesOf sorts the results of choices into families. Tests match by their label; the
// only ones of a kind match whatever their labels, such as those of a test run by hand and
// of a campaign.
func familiesOf(choices []*Choice) []family {
	var all []familyMember
	for i, c := range choices {
		for _, g := range byLabel(distinct(c.Results), nil) {
			all = append(all, familyMember{i, c, g})
		}
	}
	var out []family
	for _, m := range all {
		f := family{label: m.group.label, test: m.group.test, capture: m.group.capture}
		if f.capture == "" { // unknown: as the others
			f.capture = onlyCapture(all, f.test)
		}
		if onlyOfKind(all, f.test) && slices.ContainsFunc(all, func(o familyMember) bool { return o.group.test == f.test && o.group.label != f.label }) {
			f.label = string(f.test)
		}
		same := func(o family) bool { return o.label == f.label && o.test == f.test && o.capture == f.capture }
		in := findOrAdd(&out, same, f)
		in.members = append(in.members, m)
	}
	return out
}

// onlyOfKind reports whether each choice has one label at most of a kind of test.
func onlyOfKind(all []familyMember, test measure.Test) bool {
	labels := map[int]string{}
	for _, m := range all {
		if m.group.test != test {
			continue
		}
		if label, found := labels[m.place]; found && label != m.group.label {
			return false
		}
		labels[m.place] = m.group.label
	}
	return true
}

// onlyCapture is how all results of a kind of test took the bytes, empty if they differ.
func onlyCapture(all []familyMember, test measure.Test) (only capture) {
	for _, m := range all {
		switch c := m.group.capture; {
		case m.group.test != test || c == "" || c == only:
		case only != "":
			return ""
		default:
			only = c
		}
	}
	return only
}

// tests are the tests of a family, one for each set of levels that choices share. A pattern
// matches that of another choice if they have the same levels of all factors that vary
// within any of the choices: what a choice holds fixed is what is compared. leftOut counts
// the patterns that match none.
func (f family) tests(o CompareOptions) (out []ComparedTest, leftOut int) {
	patterns := make([][]pattern, len(f.members))
	var results []*measure.Result
	var varied []string
	for i, m := range f.members {
		patterns[i] = byPattern(m.group, nil, nil, m.choice.Unvaried[m.group.label])
		for j := range patterns[i] {
			if p := &patterns[i][j]; len(p.levels) == 0 {
				p.levels = []measure.Level{{Value: p.name}}
			}
		}
		varied = addVaried(varied, patterns[i])
		results = append(results, m.group.results...)
	}
	figure := cmp.Or(o.Metric, metric.Ranking(f.test, successful(results)))
	if o.Metric != nil && !slices.Contains(figure.Tests(), f.test) {
		return nil, 0
	}
	rounds := roundIndex(labelled{results: results})
	sessions := map[session]int{}
	for i, m := range f.members {
		for _, p := range patterns[i] {
			same := alignLevels(p.levels, varied)
			c := choiceOf(m, p, figure, rounds, sessions)
			if c.Rounds == 0 {
				continue
			}
			t := findOrAdd(&out, func(t ComparedTest) bool { return slices.Equal(t.Same, same) },
				ComparedTest{Label: f.label, Test: f.test, Capture: f.capture, Same: same, Metric: figure})
			t.Choices = append(t.Choices, c)
		}
	}
	alone := func(t ComparedTest) bool { return len(t.Choices) < 2 || !o.AllPairs && t.Choices[0].place > 0 }
	for i := range out {
		if t := &out[i]; alone(*t) {
			leftOut += len(t.Choices)
		} else {
			t.describe()
		}
	}
	return slices.DeleteFunc(out, alone), leftOut
}

// addVaried adds the factors of which these patterns have several levels.
func addVaried(varied []string, patterns []pattern) []string {
	for _, factor := range factorsOf(patterns) {
		level := func(p pattern) string { return alignLevels(p.levels, []string{factor})[0].Value }
		if !slices.Contains(varied, factor) && slices.ContainsFunc(patterns, func(p pattern) bool { return level(p) != level(patterns[0]) }) {
			varied = append(varied, factor)
		}
	}
	return varied
}

// choiceOf is a pattern of a choice with its round means. sessions numbers the sessions of
// all choices: runs of different campaigns, and tests run by hand, are different ones.
func choiceOf(m familyMember, p pattern, figure *metric.Definition, rounds map[int]int, sessions map[session]int) ComparedChoice {
	results := successful(p.results)
	c := ComparedChoice{Name: m.choice.Name, place: m.place, results: p.results}
	c.group = stats.Group{
		Name: m.choice.Name, Rounds: perRound(results, rounds, figure.Value),
		Sessions: sessionsPerRound(results, rounds, figure, func(r *measure.Result) int { return sessionOf(r, sessions) }),
	}
	for _, values := range c.group.Rounds {
		c.Trials += len(values)
		c.Rounds += min(len(values), 1)
	}
	c.Failed = len(p.results) - c.Trials
	c.interim = m.choice.Until.interim(m.group.label, lastRound(m.group.results))
	return c
}

// session is what measured a result: a run of a campaign, or the result itself if it was
// run by hand.
type session struct {
	campaign string
	run      int
	result   string
}

// sessionOf numbers the session that measured a result.
func sessionOf(r *measure.Result, sessions map[session]int) int {
	key := session{result: r.ID}
	if r.Trial != nil {
		key = session{campaign: r.Trial.Campaign, run: runOf(r)}
	}
	n, known := sessions[key]
	if !known {
		n = len(sessions)
		sessions[key] = n
	}
	return n
}

// describe notes what a reader has to know of the results of a test.
func (t *ComparedTest) describe() {
	var results []*measure.Result
	var groups []stats.Group
	for _, c := range t.Choices {
		results, groups = append(results, c.results...), append(groups, c.group)
	}
	for i, e := range stats.Estimates(groups) {
		c := &t.Choices[i]
		c.Value, c.Low, c.High = e.Estimate, max(e.Low, 0), e.High
	}
	for _, r := range results {
		if r.Origin != nil {
			t.Ingested++
		}
	}
	t.Stated = statedRounds(results)
	_, t.Different = compareOptions(labelled{test: t.Test, results: results})
}

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
	v, ok := metric.Ranking(r.Test, []*measure.Result{r}).Value(r)
	return ok && plausible(v)
}

// mostNamed is how many tests or patterns a failure names.
const mostNamed = 6

// distinctTexts are the texts of results, each once, in their order.
func distinctTexts(results []*measure.Result, of func(*measure.Result) string) (out []string) {
	for _, r := range results {
		out = addOnce(out, of(r))
	}
	return out
}

// testsWithUnits names the tests of a choice, each with the unit of its figure.
func testsWithUnits(c *Choice) []string {
	return distinctTexts(c.Results, func(r *measure.Result) string {
		return string(r.Test) + " (" + metric.Ranking(r.Test, []*measure.Result{r}).Unit + ")"
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
