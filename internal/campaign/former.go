package campaign

import (
	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// formerBudget are keys of older versions, and the members of budget that replaced them.
var formerBudget = map[string]string{"max_bytes": "bytes", "egress_price_per_gb": "egress_price_per_gb", "until.max_time": "time"}

// formerKey handles a key that plans of older versions had. It is an error that names the new form. In the
// plan of a campaign that has begun it is skipped: a budget decides nothing about what was measured.
func (p *Plan) formerKey(d *yamlfile.File, m yamlfile.Member, path string) (known bool, err error) {
	key := yamlfile.Join(path, m.Key)
	member, known := formerBudget[key]
	if !known || p.recorded {
		return known, nil
	}
	value, _ := m.Value.Text()
	wrong := measure.Fail(measure.KindFile, "campaign.former_key", measure.Figures{"key": key})
	return true, d.Locate(m.Place, "", wrong.WithHintCode("campaign.former_budget", measure.Figures{"member": member, "value": yamlfile.Shorten(value)}))
}
