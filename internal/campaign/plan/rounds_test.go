package plan_test

import (
	"testing"

	"soku/internal/campaign/plan"
	"soku/test/plans"
)

// A journal of an older version has a plan without rounds, of which there were three.
func TestRecordedPlansWithoutRoundsHaveThoseOfOlderVersions(t *testing.T) {
	p, err := plan.ParseRecorded("plan.yaml", []byte(plans.Minimal))
	if err != nil || p.Rounds != 3 || p.NamesRounds() {
		t.Errorf("%+v, %v", p, err)
	}
	if p := plans.Parse(t, plans.Minimal+"rounds: 4\n"); p.Rounds != 4 || !p.NamesRounds() {
		t.Errorf("%d rounds", p.Rounds)
	}
}
