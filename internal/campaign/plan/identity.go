package plan

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// free are the keys that may change between the parts of one campaign: they
// decide what runs now, how much of it, what it may cost and how figures are judged, not what a
// trial measures. So may the limits of endpoints and levels. There may not be fewer rounds than
// before.
var free = []string{
	"title", "question", "baseline", "rounds", "every", "for", "only", "pause", "command_timeout", "abort_after", "trials_at_once",
	"until", "budget", "practical", "limits", "control", "noise",
}

// SameMeasurement returns an error of kind usage that names the keys in which
// two plans would measure different things. given may have more levels ([Plan.AddedTo]), and
// the endpoints that these need.
func SameMeasurement(recorded, given *Plan) error {
	var differ []string
	if added := given.AddedTo(recorded); len(added) > 0 {
		given = given.withoutAdded(added, recorded)
	}
	if f := recorded.former; len(f.zip)+len(f.patterns) > 0 { // other keys say the same now
		levels := func(a, b Pattern) bool { return slices.Equal(a.Levels, b.Levels) }
		if !slices.EqualFunc(recorded.patterns, given.patterns, levels) {
			differ = append(differ, "patterns")
		}
		recorded, given = recorded.withoutSelections(), given.withoutSelections()
	}
	a, b := reflect.ValueOf(recorded).Elem(), reflect.ValueOf(given).Elem()
	for i := range a.NumField() {
		key := a.Type().Field(i).Tag.Get("yaml")
		if key == "" || key == "-" || slices.Contains(free, key) {
			continue
		}
		if !bytes.Equal(canonical(a.Field(i)), canonical(b.Field(i))) {
			differ = append(differ, key)
		}
	}
	if len(differ) == 0 {
		return nil
	}
	var levels []string
	if slices.Contains(differ, "factors") {
		levels = changedLevels(recorded.Factors, given.Factors)
	}
	return measure.Fail(measure.KindUsage, "campaign.plan_changed", measure.Figures{"changed": differ, "levels": levels, "free": free})
}

// mostChanged is how many changed levels an error names.
const mostChanged = 8

// changedLevels are the first of the levels, as factor=level, that are not alike in two plans, and the factors that are in
// one of them alone or have levels in another order.
func changedLevels(a, b yamlfile.Ordered[Factor]) (out []string) {
	for _, f := range slices.Concat(a, b) {
		x, inA := a.Get(f.Name)
		y, inB := b.Get(f.Name)
		before := len(out)
		for _, l := range slices.Concat(x.Levels, y.Levels) {
			named := func(o Level) bool { return o.Name == l.Name }
			i, j := slices.IndexFunc(x.Levels, named), slices.IndexFunc(y.Levels, named)
			if inA && inB && (i < 0 || j < 0 || !bytes.Equal(canonical(reflect.ValueOf(x.Levels[i])), canonical(reflect.ValueOf(y.Levels[j])))) {
				out = append(out, f.Name+"="+l.Name)
			}
		}
		if len(out) == before && !bytes.Equal(canonical(reflect.ValueOf(x)), canonical(reflect.ValueOf(y))) {
			out = append(out, f.Name)
		}
	}
	slices.Sort(out)
	if out = slices.Compact(out); len(out) > mostChanged {
		out = append(out[:mostChanged], "...")
	}
	return out
}

// AddedTo returns the levels that the plan has and an older one has not, of factors that both have.
// A plan with a search has none: which levels it visits follows from all of them.
func (p *Plan) AddedTo(older *Plan) (out []measure.Level) {
	if p.Searches() || len(older.former.zip)+len(older.former.patterns) > 0 {
		return nil
	}
	for _, f := range p.Factors {
		before, known := older.Factors.Get(f.Name)
		for _, l := range f.Value.Levels {
			if known && !slices.ContainsFunc(before.Levels, func(b Level) bool { return b.Name == l.Name }) {
				out = append(out, measure.Level{Factor: f.Name, Value: l.Name})
			}
		}
	}
	return out
}

// Without returns the plan with the patterns that have none of the levels.
func (p *Plan) Without(added []measure.Level) *Plan {
	q := *p
	q.patterns = slices.DeleteFunc(slices.Clone(p.patterns), func(pt Pattern) bool {
		return slices.ContainsFunc(added, func(l measure.Level) bool { return slices.Contains(pt.Levels, l) })
	})
	return &q
}

// withoutAdded returns the plan without levels that were added to an older one, and without what
// other keys say of these levels. With pairs, endpoints of "*" are measured: none may be added.
func (p *Plan) withoutAdded(added []measure.Level, older *Plan) *Plan {
	q := *p
	q.Factors, q.Exclude = slices.Clone(p.Factors), nil
	for i := range q.Factors {
		f := &q.Factors[i]
		f.Value.Levels = slices.DeleteFunc(slices.Clone(f.Value.Levels), func(l Level) bool {
			return slices.Contains(added, measure.Level{Factor: f.Name, Value: l.Name})
		})
		for j := range f.Value.Levels {
			l := &f.Value.Levels[j]
			l.When, _ = l.When.withoutLevels(added)
		}
	}
	for _, s := range p.Exclude {
		if left, some := s.withoutLevels(added); some {
			q.Exclude = append(q.Exclude, left)
		}
	}
	if !p.HasPairs() {
		q.Endpoints = slices.DeleteFunc(slices.Clone(p.Endpoints), func(e yamlfile.Entry[Endpoint]) bool {
			_, known := older.Endpoints.Get(e.Name)
			return !known
		})
	}
	return &q
}

// withoutLevels returns the selection without levels; some is false if nothing is left of a factor.
func (s Selection) withoutLevels(levels []measure.Level) (out Selection, some bool) {
	for _, f := range s {
		left := slices.DeleteFunc(slices.Clone(f.Value), func(value string) bool {
			return slices.Contains(levels, measure.Level{Factor: f.Name, Value: value})
		})
		if len(left) == 0 {
			return nil, false
		}
		out = append(out, yamlfile.Entry[[]string]{Name: f.Name, Value: left})
	}
	return out, true
}

func canonical(v reflect.Value) []byte {
	b, err := json.Marshal(v.Interface())
	if err != nil {
		return []byte(err.Error()) // cannot happen: plans hold plain values
	}
	return b
}
