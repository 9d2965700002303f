package campaign

import (
	"slices"

	"soku/internal/campaign/plan"
	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/stats"
)

// Decisions is how the comparisons of a campaign stand.
type Decisions struct {
	Compared int // pairs of patterns
	Open     int // that are not decided
	// The first open comparison, and the label of its test, if any is open.
	A, B, OpenLabel string
}

// comparedFigures are the patterns of a test that a report compares with each other, in the
// order of the plan.
type comparedFigures struct {
	label  string
	metric *metric.Definition
	groups []stats.Group
}

type comparisons []comparedFigures

// compared are the selected patterns that have figures, of the tests that until applies to.
// Trials belong to one pattern, as in reports, if they differ only in factors that set nothing in
// their test. c.mu is held.
func (c *Campaign) compared(only plan.Selection) comparisons {
	type family struct {
		label     string
		metric    *metric.Definition
		discarded bool
	}
	type member struct {
		place int // of the pattern in the plan
		ends  string
		of    []*series
	}
	type identity struct {
		family
		ends, levels string
	}
	if !c.Plan.Until.Decided {
		return nil
	}
	unvaried, labels := c.Plan.Unvaried(), c.Plan.Until.Tests
	places := map[string]int{}
	for i, pt := range c.Plan.AllPatterns() {
		places[measure.LevelsKey(pt.Levels)] = i
	}
	members, index := map[family][]member{}, map[identity]int{}
	var order []family
	for _, s := range c.figures.order {
		if len(s.values) == 0 || !only.Matches(s.key.Levels) || c.Plan.IsControl(s.key.Levels) || len(labels) > 0 && !slices.Contains(labels, s.key.Label) {
			continue
		}
		f := family{s.key.Label, s.metric, s.discarded}
		if members[f] == nil {
			order = append(order, f)
		}
		place, ends := places[measure.LevelsKey(s.key.Levels)], s.key.Client+" → "+s.key.Server
		key := identity{f, ends, measure.LevelsKey(without(s.key.Levels, unvaried[f.label]))}
		at, known := index[key]
		if !known {
			at = len(members[f])
			index[key] = at
			members[f] = append(members[f], member{place: place, ends: ends})
		}
		m := &members[f][at]
		m.place, m.of = min(m.place, place), append(m.of, s)
	}
	var out comparisons
	for _, f := range order {
		all := comparedFigures{label: f.label, metric: f.metric}
		slices.SortStableFunc(members[f], func(a, b member) int { return a.place - b.place })
		for _, m := range members[f] {
			g := groupOf(m.of)
			g.Name = measure.JoinLevels(without(m.of[0].key.Levels, unvaried[f.label]))
			if c.Plan.HasPairs() {
				g.Name += ", " + m.ends
			}
			all.groups = append(all.groups, g)
		}
		out = append(out, all)
	}
	return out
}

// without is levels without those of some factors.
func without(levels []measure.Level, factors []string) []measure.Level {
	return slices.DeleteFunc(slices.Clone(levels), func(l measure.Level) bool { return slices.Contains(factors, l.Factor) })
}

// groupOf is the figures of one pattern, round by round.
func groupOf(of []*series) (g stats.Group) {
	for _, s := range of {
		turns := make([]turn, 0, len(s.values))
		for at := range s.values {
			turns = append(turns, at)
		}
		slices.SortFunc(turns, func(a, b turn) int { // the order of a map would change the last digit of a mean
			if a.round != b.round {
				return a.round - b.round
			}
			return a.repeat - b.repeat
		})
		for _, at := range turns {
			for len(g.Rounds) < at.round {
				g.Rounds, g.Sessions = append(g.Rounds, nil), append(g.Sessions, nil)
			}
			f, i := s.values[at], at.round-1
			g.Rounds[i] = append(g.Rounds[i], f.value)
			if !slices.Contains(g.Sessions[i], f.session) {
				g.Sessions[i] = append(g.Sessions[i], f.session)
			}
		}
	}
	return g
}

// decide looks at the comparisons of all tests.
func (all comparisons) decide(looks stats.Looks, practical float64, against stats.Against) (d Decisions) {
	for _, t := range all {
		open, compared := looks.Undecided(t.groups, t.metric.Better == metric.Higher, practical, against)
		d.Compared += compared
		if d.Open == 0 && len(open) > 0 {
			d.A, d.B, d.OpenLabel = t.groups[open[0][0]].Name, t.groups[open[0][1]].Name, t.label
		}
		d.Open += len(open)
	}
	return d
}
