package report

import (
	"cmp"
	"slices"

	"soku/internal/measure"
	"soku/internal/report/outline"
)

// hues numbers the levels of one factor, so that a level has the same colour and shape in all
// charts of a report.
type hues struct {
	factor string
	number map[string]int // of a level: 0 to outline.Hues-1
}

// of is the number of a pattern's colour: 0 if the pattern has no level of the factor.
func (h hues) of(levels []measure.Level) int { return h.number[levelOf(levels, h.factor)] }

// assignHues gives each test the factor whose levels have colours. Levels of different factors
// have different colours as long as there are enough.
func (r *Report) assignHues() {
	levels := map[string][]string{} // of the factors, in all tests
	for _, t := range r.Tests {
		for _, row := range t.Rows {
			for _, l := range row.Levels {
				levels[l.Factor] = addOnce(levels[l.Factor], l.Value)
			}
		}
	}
	numbers, next := map[string]map[string]int{}, 0
	for i := range r.Tests {
		f := r.Tests[i].hueFactor(levels)
		if numbers[f] == nil {
			if next+len(levels[f]) > outline.Hues {
				next = 0
			}
			numbers[f] = map[string]int{}
			for _, l := range levels[f] {
				numbers[f][l] = next
				next++
			}
		}
		r.Tests[i].hues = hues{f, numbers[f]}
		if best := r.Tests[i].AtBest; best != nil {
			best.hues = r.Tests[i].hues
		}
	}
}

// hueFactor is the first of the factors, the asked one before the others, that has no more levels
// than there are colours, or "" if there is none. A curve over a factor shows its levels by their
// place.
func (t *Test) hueFactor(levels map[string][]string) string {
	for _, f := range t.factorsByShare() {
		if len(levels[f]) <= outline.Hues && !t.sweeps(f) {
			return f
		}
	}
	return ""
}

// sweeps reports whether the curves of the test are over the factor.
func (t *Test) sweeps(factor string) bool {
	curves := t.allCurves()
	return len(curves) > 0 && curves[0].Option == factor
}

// factorsByShare are the factors whose effects can be told apart: the asked one, then the others
// by their share of the variation.
func (t *Test) factorsByShare() (out []string) {
	for _, f := range separable(t.levelTexts(), len(t.Factors)) {
		out = append(out, t.Factors[f])
	}
	rank := func(f string) float64 {
		if f == t.asked {
			return -2 // a share is 1 at most
		}
		return -t.shareOf(f)
	}
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	return out
}
