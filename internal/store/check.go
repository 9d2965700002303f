package store

import "soku/internal/measure"

// What implementations of [Store] check alike. Each error is of kind usage.

// CheckResult refuses a result that has no ID.
func CheckResult(r *measure.Result) error {
	if r == nil || r.ID == "" {
		return measure.Errorf(measure.KindUsage, "store a result: it has no id").WithHint("give each result its own id")
	}
	return nil
}

// CheckCampaign refuses a campaign that has no ID.
func CheckCampaign(c Campaign) error {
	if c.ID == "" {
		return measure.Errorf(measure.KindUsage, "store a campaign: it has no id").WithHint("give each campaign its own id")
	}
	return nil
}

// CheckLimit refuses a negative limit.
func CheckLimit(limit int) error {
	if limit < 0 {
		return measure.Errorf(measure.KindUsage, "list at most %d: negative", limit).WithHint("0 lists all")
	}
	return nil
}
