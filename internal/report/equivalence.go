package report

import (
	"slices"

	"soku/internal/measure/metric"
	"soku/internal/stats"
	"soku/internal/text"
)

// findSame marks the places of patterns that are shown to make no practical difference to the
// best: a difference as large as the practical threshold is ruled out (TOST, Holm over these
// comparisons).
func (t *Test) findSame(groups []stats.Group) {
	if t.Rounds < 2 || len(t.Ranking) < 2 || t.Ranking[0].Estimate == nil {
		return
	}
	best := groups[slices.IndexFunc(groups, func(g stats.Group) bool { return g.Name == t.Ranking[0].Pattern })]
	var pairs []stats.ChoicePair
	var places []*Place
	for i := range t.Ranking[1:] {
		p := &t.Ranking[i+1]
		if p.Estimate != nil && !p.acrossRuns() {
			places = append(places, p)
			at := slices.IndexFunc(groups, func(g stats.Group) bool { return g.Name == p.Pattern })
			pairs = append(pairs, stats.ChoicePair{A: groups[at], B: best})
		}
	}
	for i, c := range t.interim.CompareChoices(pairs, t.Basis.Metric.Better == metric.Higher, t.Practical) {
		places[i].Same = c.Decision == stats.Same
		places[i].alike = places[i].alike || places[i].Same && c.Alike
	}
}

// same names the patterns that make no practical difference to the best, or returns "" if there
// are none.
func (t testView) same() string {
	var names []string
	for _, p := range t.Ranking {
		if p.Same {
			names = append(names, p.Pattern)
		}
	}
	if len(names) == 0 {
		return ""
	}
	all, shared := t.callTogether(append([]string{t.Ranking[0].Pattern}, names...))
	some := all[1:][:min(len(names), mostPatterns)]
	return t.Sentence("answer.same", text.Args{"Best": all[0], "Patterns": some, "More": len(names) - len(some), "Shared": t.shared(shared), "Practical": t.Practical})
}
