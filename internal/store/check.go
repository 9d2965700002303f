package store

import "soku/internal/measure"

// What implementations of [Store] check alike. Each error is of kind usage.

func withoutID() error { return measure.Fail(measure.KindUsage, "store.result_without_id", nil) }

// CheckCampaign refuses a campaign that has no ID.
func CheckCampaign(c Campaign) error {
	if c.ID == "" {
		return measure.Fail(measure.KindUsage, "store.campaign_without_id", nil)
	}
	return nil
}

// CheckLimit refuses a negative limit.
func CheckLimit(limit int) error {
	if limit < 0 {
		return measure.Fail(measure.KindUsage, "store.negative_limit", measure.Figures{"limit": limit})
	}
	return nil
}
