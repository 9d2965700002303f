package campaign_test

import (
	"soku/test/plans"
	"testing"
	"testing/synctest"
	"time"

	"soku/internal/campaign"
	"soku/internal/campaign/schedule"
)

// A server that is busy lets clients wait for their turn.
func TestAProbeThatStillWaitsIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, plans.Minimal)
		b.lasting(time.Hour)
		failures, err := campaign.Preflight(t.Context(), b, schedule.Probes(b.plan, nil))
		if err != nil || len(failures) != 0 || len(b.ran) != 1 {
			t.Errorf("failures %v, error %v, %d probes ran", failures, err, len(b.ran))
		}
	})
}
