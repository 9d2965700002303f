package report

import (
	"cmp"
	"math"
	"slices"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/measure/option"
)

// setsOption reports whether a factor (its index) is an option of the test, or sets one.
func (t *Test) setsOption(f int) bool {
	if _, is := option.Of(t.Factors[f]); is {
		return true
	}
	return slices.ContainsFunc(t.Different, func(o Option) bool {
		var set [][]string
		for _, r := range t.Rows {
			for _, x := range r.results {
				set = append(set, []string{r.Levels[f].Value, optionText(x, o.Key)})
			}
		}
		return occursWithOne(set, 0, 1) && !occursWithOne(set, -1, 1)
	})
}

// isTuning reports whether a factor (its index) is an option that users of a path set to whatever
// carries most, such as the number of streams, so that other factors are compared at its best level.
func (t *Test) isTuning(f int) bool {
	if t.Basis.Metric.Better != metric.Higher {
		return false
	}
	if slices.Contains(option.TuningKeys, t.Factors[f]) {
		return true
	}
	levels := t.distinctLevels(f)
	slices.SortFunc(levels, natural)
	return slices.ContainsFunc(t.Different, func(o Option) bool {
		return slices.Contains(option.TuningKeys, o.Key) && slices.Equal(o.Values, levels)
	})
}

// distinctLevels are the levels of a factor (its index), each once, in the order of the rows.
func (t *Test) distinctLevels(f int) (out []string) {
	for i := range t.Rows {
		out = addOnce(out, t.Rows[i].Levels[f].Value)
	}
	return out
}

// findAtBest fills AtBest: the test with its patterns at the level of the tuning factors that is best
// over all levels of the other factors, by the geometric mean of the estimates, and without the
// tuning factors. That choice does not favour a level of another factor, so comparisons stay valid.
// Where levels were searched, these are the patterns at their plateaus. AtBest stays nil if no
// tuning factor varies, if no other factor does, if no level of the tuning factors was measured with
// all levels of the others, or if the campaign asks about a tuning factor.
func (t *Test) findAtBest(patterns []pattern, rounds map[int]int, question string) {
	if t.ByHand {
		return
	}
	tuning, others := t.tuningFactors()
	if slices.Contains(tuning, question) || len(tuning) == 0 || len(others) == 0 {
		return
	}
	best, levels := t.plateaus(), []measure.Level(nil)
	if len(best) == 0 {
		if best, levels = t.bestTuned(patterns, tuning); len(best) == 0 {
			return
		}
	}
	sub := &Test{
		Label: t.Label, Test: t.Test, Capture: t.Capture, Basis: t.Basis, Practical: t.Practical, Rounds: t.Rounds, interim: t.interim,
		Factors: slices.DeleteFunc(slices.Clone(t.Factors), func(f string) bool { return slices.Contains(tuning, f) }), Tuned: levels, asked: t.asked,
	}
	var merged []pattern // levels of one plateau are one pattern
	for _, p := range best {
		levels := without(p.levels, tuning)
		of := *t.rowOf(p.name)
		if len(sub.Tuned) == 0 {
			p.name = joinAligned(alignLevels(levels, sub.Factors))
		}
		p.levels = levels
		into := findOrAdd(&merged, func(o pattern) bool { return o.has(levels) }, pattern{name: p.name, levels: levels, place: p.place})
		into.results = append(into.results, p.results...)
		row := findOrAdd(&sub.Rows, func(r Row) bool { return r.Pattern == p.name }, Row{Pattern: p.name, Levels: alignLevels(levels, sub.Factors), Limits: slices.Clone(of.Limits), Figures: of.Figures})
		row.Values, row.results = append(row.Values, of.Values...), append(row.results, p.results...)
	}
	sub.rank(merged, rounds)
	sub.findEffects(merged)
	sub.shareLimits()
	sub.PlateauOf = t.PlateauOf
	t.AtBest = sub
}

// tuningFactors are the tuning factors that vary, and the other factors that do.
func (t *Test) tuningFactors() (tuning, others []string) {
	for _, f := range separable(t.levelTexts(), len(t.Factors)) {
		if t.isTuning(f) {
			tuning = append(tuning, t.Factors[f])
		} else {
			others = append(others, t.Factors[f])
		}
	}
	return tuning, others
}

// bestTuned are the patterns with the best levels of the tuning factors, and these levels.
func (t *Test) bestTuned(patterns []pattern, tuning []string) (best []pattern, levels []measure.Level) {
	type group struct {
		levels   []measure.Level
		patterns []pattern
		logs     float64 // of the estimates
	}
	var groups []group
	combinations := map[string]bool{} // of the other factors
	for _, p := range patterns {
		place := t.place(p.name)
		if place == nil || place.Estimate == nil || *place.Estimate <= 0 {
			continue
		}
		combinations[measure.LevelsKey(without(p.levels, tuning))] = true
		of := slices.DeleteFunc(slices.Clone(p.levels), func(l measure.Level) bool { return !slices.Contains(tuning, l.Factor) })
		g := findOrAdd(&groups, func(g group) bool { return slices.Equal(g.levels, of) }, group{levels: of})
		g.patterns, g.logs = append(g.patterns, p), g.logs+math.Log(*place.Estimate)
	}
	groups = slices.DeleteFunc(groups, func(g group) bool { return len(g.patterns) < len(combinations) })
	if len(groups) == 0 {
		return nil, nil
	}
	g := slices.MaxFunc(groups, func(a, b group) int { return cmp.Compare(a.logs, b.logs) })
	return g.patterns, g.levels
}

// rowOf is the row of a pattern, nil if there is none.
func (t *Test) rowOf(pattern string) *Row {
	if i := slices.IndexFunc(t.Rows, func(r Row) bool { return r.Pattern == pattern }); i >= 0 {
		return &t.Rows[i]
	}
	return nil
}

// asCompared is the test as its factors are compared: at the best level of tuning factors, if it has them.
func (t *Test) asCompared() *Test {
	if t.AtBest != nil {
		return t.AtBest
	}
	return t
}
