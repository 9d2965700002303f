package plan

import (
	"slices"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// formerBudget are keys of older versions, and the members of budget that replaced them.
var formerBudget = map[string]string{"max_bytes": "bytes", "egress_price_per_gb": "egress_price_per_gb", "until.max_time": "time"}

// formerKey handles a key that plans of older versions had. It is an error that names the new form. In the
// plan of a campaign that has begun, keys that chose patterns are read, and those of the budget are
// skipped: a budget decides nothing about what was measured.
func (p *Plan) formerKey(d *yamlfile.File, m yamlfile.Member, path string) (known bool, err error) {
	key := yamlfile.Join(path, m.Key)
	selections := map[string]any{"zip": &p.former.zip, "patterns": &p.former.patterns}
	member, limit := formerBudget[key]
	switch {
	case !limit && selections[key] == nil:
		return false, nil
	case !p.recorded:
		return true, d.Locate(m.Place, "", formerFailure(key, member, m.Value))
	case limit || m.Value.IsNull():
		return true, nil
	}
	d.Mark(key, m.Value.Place())
	return true, d.Decode(m.Value, selections[key], key)
}

// formerFailure is the failure of a former key in a new plan. member is that of budget, empty for another key.
func formerFailure(key, member string, value yamlfile.Node) *measure.Error {
	wrong := measure.Fail(measure.KindFile, "campaign.former_key", measure.Figures{"key": key})
	switch key {
	case "zip":
		return wrong.WithHintCode("campaign.former_zip", nil)
	case "patterns":
		return wrong.WithHintCode("campaign.former_patterns", nil)
	}
	text, _ := value.Text()
	return wrong.WithHintCode("campaign.former_budget", measure.Figures{"member": member, "value": yamlfile.Shorten(text)})
}

// bindFormer gives the levels of zipped factors the conditions that say the same: each exists with the
// level of the group's first factor that has its number.
func (p *Plan) bindFormer(d *yamlfile.File) error {
	for _, group := range p.former.zip {
		var members []int
		for _, name := range group {
			member := slices.IndexFunc(p.Factors, func(f yamlfile.Entry[Factor]) bool { return f.Name == name })
			if member < 0 {
				return d.LocateAt("zip", p.unknownFactor(name))
			}
			members = append(members, member)
		}
		slices.Sort(members) // a condition on an earlier factor is checked before later ones are combined
		for _, member := range slices.Compact(members)[min(1, len(members)):] {
			p.bind(member, members[0])
		}
	}
	return nil
}

// bind gives each level of a factor the condition that it exists with the level of another that has its number.
func (p *Plan) bind(factor, other int) {
	levels := p.Factors[factor].Value.Levels
	for i := range levels {
		c := condition{factor: other, with: make([]bool, len(p.Factors[other].Value.Levels))}
		if i < len(c.with) {
			c.with[i] = true
		}
		levels[i].conditions, p.conditional = append(levels[i].conditions, c), true
	}
}

// withoutSelections returns the plan without the keys that choose among the combinations of levels.
func (p *Plan) withoutSelections() *Plan {
	q := *p
	q.Exclude, q.Factors = nil, slices.Clone(p.Factors)
	for i := range q.Factors {
		levels := slices.Clone(q.Factors[i].Value.Levels)
		for j := range levels {
			levels[j].When = nil
		}
		q.Factors[i].Value.Levels = levels
	}
	return &q
}
