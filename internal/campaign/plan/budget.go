package plan

import (
	"math"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

func (p *Plan) checkBudget(d *yamlfile.File) error {
	if p.Budget.Price > 0 && p.Budget.PricePerGB == 0 && !p.recorded {
		return d.LocateAt("budget.price", measure.Fail(measure.KindFile, "campaign.budget_without_price", nil))
	}
	return nil
}

// MostBytes is the payload that the campaign may move, the smallest limit in its budget, and the
// key of that limit. It is 0 without a limit.
func (p *Plan) MostBytes() (limit int64, key string) {
	for _, l := range []struct {
		key   string
		bytes float64
	}{{"budget.bytes", float64(p.Budget.Bytes)}, {"budget.price", p.Budget.Price / p.Budget.PricePerGB * 1e9}} {
		if l.bytes > 0 && (key == "" || l.bytes < float64(limit)) {
			limit, key = int64(max(1, min(l.bytes, math.MaxInt64/2))), l.key
		}
	}
	return limit, key
}
