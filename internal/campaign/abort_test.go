package campaign_test

import (
	"soku/test/plans"
	"strings"
	"testing"

	"soku/internal/campaign/plan"
)

// pairs is a plan of two servers: 10 rounds of one trial each.
const pairs = `campaign: pairs
endpoints: {a: {address: 10.0.0.1}, b: {address: 10.0.0.2}}
factors: {server: [{name: A, to: a}, {name: B, to: b, before: ./switch.sh}]}
tests: {up: {test: tcp, duration: 1s}}
rounds: 10
`

func TestAbortAfterMayChangeWhileACampaignRuns(t *testing.T) {
	b := newBench(t, pairs)
	b.create()
	b.plan = plans.Parse(t, pairs+"abort_after: 0\n")
	b.resume()
	if _, err := plan.Parse("p.yaml", []byte(pairs+"abort_after: -1\n")); err == nil || !strings.Contains(err.Error(), "p.yaml:6:14: abort_after: -1 is out of range; allowed: 0..1000000") {
		t.Errorf("error is %v", err)
	}
}
