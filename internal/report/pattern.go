package report

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/stats"
)

// pattern is the results of one row.
type pattern struct {
	name    string
	levels  []measure.Level
	place   int // in the order of the plan, of which one place has all pairs of hosts
	results []*measure.Result
}

// has reports whether these are the pattern's levels.
func (p pattern) has(levels []measure.Level) bool { return slices.Equal(levels, p.levels) }

// same reports whether both are one pattern: what identifies it are its levels,
// and its name only in documents that have no levels.
func (p pattern) same(o pattern) bool {
	return p.has(o.levels) && (len(p.levels) > 0 || p.name == o.name)
}

// byPattern groups a test's results into rows. Trials run by hand have no
// pattern: their path and whatever options differ between them make one up.
// order is as in [Input]; the factors unvaried set nothing in this test.
func byPattern(g labelled, varied []Option, order [][]measure.Level, unvaried []string) []pattern {
	var out []pattern
	for _, r := range g.results {
		p := pattern{}
		if r.Trial != nil {
			p.name, p.levels = r.Trial.Pattern, without(r.Trial.Levels, unvaried)
			if g.pair.factor != "" {
				p.levels = append(slices.Clone(p.levels), g.pair.level(r))
			}
			if len(p.levels) != len(r.Trial.Levels) || g.pair.factor != "" {
				p.name = measure.JoinLevels(p.levels)
			}
		} else {
			p.levels = levelsByHand(r, varied)
		}
		if p.name == "" {
			p.name = joinLevels(p.levels, r)
		}
		row := findOrAdd(&out, p.same, p)
		row.results = append(row.results, r)
	}
	for i := range out {
		planned := pattern{levels: without(out[i].levels, []string{g.pair.factor})}
		out[i].place = slices.IndexFunc(order, func(levels []measure.Level) bool { return planned.has(without(levels, unvaried)) })
		if out[i].place < 0 {
			out[i].place = len(order) + placeInTable(out[i].results)
		}
	}
	slices.SortStableFunc(out, func(a, b pattern) int {
		if c := cmp.Compare(a.place, b.place); c != 0 {
			return c
		}
		for i := range min(len(a.levels), len(b.levels)) {
			if c := natural(a.levels[i].Value, b.levels[i].Value); c != 0 {
				return c
			}
		}
		return natural(a.name, b.name)
	})
	return out
}

// placeInTable is the place of a pattern in the table that it was ingested from, or 0 if it comes from
// elsewhere.
func placeInTable(results []*measure.Result) int {
	place := 0
	for _, r := range results {
		if r.Origin == nil || r.Origin.Format != "csv" {
			return 0
		}
		if place == 0 || r.Origin.Record < place {
			place = r.Origin.Record
		}
	}
	return place
}

// nameAbsentLevels gives patterns that lack a factor of others a name with a place for it, so
// that all names have their levels in the same order.
func nameAbsentLevels(patterns []pattern, factors []string) {
	for i, p := range patterns {
		if len(p.levels) == 0 || len(p.levels) == len(factors) {
			continue
		}
		patterns[i].name = joinAligned(alignLevels(p.levels, factors))
	}
}

// without is levels without those of some factors.
func without(levels []measure.Level, factors []string) []measure.Level {
	if len(factors) == 0 {
		return levels
	}
	return slices.DeleteFunc(slices.Clone(levels), func(l measure.Level) bool { return slices.Contains(factors, l.Factor) })
}

// numberDuplicates numbers patterns that have one name and different levels.
func numberDuplicates(patterns []pattern) {
	seen := map[string]int{}
	for i := range patterns {
		name := patterns[i].name
		if seen[name]++; seen[name] > 1 {
			patterns[i].name = fmt.Sprintf("%s (%d)", name, seen[name])
		}
	}
}

func levelsByHand(r *measure.Result, varied []Option) []measure.Level {
	levels := []measure.Level{{Factor: "path", Value: r.Path.String()}}
	for _, o := range varied {
		levels = append(levels, measure.Level{Factor: o.Key, Value: optionText(r, o.Key)})
	}
	return levels
}

func joinLevels(levels []measure.Level, r *measure.Result) string {
	var parts []string
	for _, l := range levels {
		switch {
		case l.Factor == "path":
			parts = append(parts, l.Value)
		case l.Value != "":
			parts = append(parts, l.Factor+" "+l.Value)
		}
	}
	return cmp.Or(strings.Join(parts, ", "), r.Path.String())
}

// factorsOf is every factor of any row, in the order of the first row that has it.
func factorsOf(patterns []pattern) []string {
	var out []string
	for _, p := range patterns {
		for _, l := range p.levels {
			out = addOnce(out, l.Factor)
		}
	}
	return out
}

// group is the values of a pattern in each round.
func (t *Test) group(p pattern, rounds map[int]int) stats.Group {
	results := successful(p.results)
	return stats.Group{
		Name: p.name, Rounds: perRound(results, rounds, t.Basis.Metric.Value), Sessions: sessionsPerRound(results, rounds, t.Basis.Metric, runOf),
	}
}

// groups are those of several patterns.
func (t *Test) groups(patterns []pattern, rounds map[int]int) []stats.Group {
	out := make([]stats.Group, len(patterns))
	for i, p := range patterns {
		out[i] = t.group(p, rounds)
	}
	return out
}

// compareOptions sorts the options of a test into those with one value in
// every trial and those with several. Options that were not set are left out.
func compareOptions(g labelled) (same, different []Option) {
	for _, f := range option.Fields(g.test) {
		o := Option{Key: f.Key}
		for _, r := range g.results {
			o.Values = addOnce(o.Values, fieldText(f, r))
		}
		switch {
		case len(o.Values) > 1:
			slices.SortFunc(o.Values, natural)
			different = append(different, o)
		case o.Values[0] != "":
			same = append(same, o)
		}
	}
	return same, different
}

// fieldText is an option's value for a person, empty for one that is not set.
func fieldText(f option.Field, r *measure.Result) string {
	v := reflect.ValueOf(f.Value(&r.Options))
	if v.IsZero() {
		return ""
	}
	if f.Key == "no_delay" {
		return "on"
	}
	return fmt.Sprint(v.Interface())
}

func optionText(r *measure.Result, key string) string {
	for _, f := range option.Fields(r.Test) {
		if f.Key == key {
			return fieldText(f, r)
		}
	}
	return ""
}
