package campaign_test

import (
	"soku/test/plans"
	"strings"
	"testing"

	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
)

// byHand is a plan of two factors, one of which a person changes: 4 patterns of one
// trial in each of 3 rounds.
const byHand = `campaign: hand
endpoints: {vm: {address: 10.0.0.4}}
to: vm
factors:
  offload: {by: hand, levels: [on, off]}
  streams: [1, 16]
tests: {up: {test: tcp, duration: 1s}}
`

func TestBlocksFollowTheLevelsThatAPersonChanges(t *testing.T) {
	p := plans.Parse(t, byHand+"rounds: 200\n")
	first := map[string]int{}
	changes, round, state := 0, 0, ""
	for b := range schedule.Blocks(p, "c", 3) {
		level := b.Pattern.Levels[0].Value
		if b.Round != round {
			first[b.Pattern.Name]++
			round, state = b.Round, ""
		}
		if level != state {
			changes++
		}
		state = level
	}
	if changes != 400 {
		t.Errorf("%d changes in 200 rounds of two levels", changes)
	}
	for name, n := range first {
		if n < 25 || n > 80 { // 50 expected; 4.1 standard deviations
			t.Errorf("%s comes first %d times of 200", name, n)
		}
	}
}

func TestOnlyChoosesLevelsThatAPersonChanges(t *testing.T) {
	p := plans.Parse(t, byHand)
	for _, c := range []struct {
		only   []string
		states int
		chosen bool
	}{
		{nil, 2, false}, {[]string{"streams=1"}, 2, false}, {[]string{"offload=on,off"}, 2, false}, {[]string{"offload=on"}, 1, true},
	} {
		s, err := plan.ParseSelection(c.only)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(p.HandStates(s)); got != c.states || p.Chooses(s) != c.chosen {
			t.Errorf("%v needs %d states, chosen %v", c.only, got, p.Chooses(s))
		}
	}
}

func TestByMayBeAddedToACampaignOfAnOlderVersion(t *testing.T) {
	b := newBench(t, byHand)
	older, err := plan.ParseRecorded("plan.yaml", []byte(strings.Replace(byHand, "{by: hand, levels: [on, off]}", "[on, off]", 1)))
	if err != nil {
		t.Fatal(err)
	}
	b.plan = older
	b.create()
	b.plan = plans.Parse(t, byHand)
	b.resume()
}
