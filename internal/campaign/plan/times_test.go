package plan_test

import (
	"strings"
	"testing"

	"soku/internal/campaign/plan"
	"soku/test/plans"
)

func TestATimeForRoundsIsTheirNumber(t *testing.T) {
	for keys, want := range map[string]int{
		"every: 1h\nfor: 24h\n": 24, "every: 1h\nfor: 90m\n": 2, "every: 1h\nfor: 1m\n": 1, "every: 1h\n": plan.DefaultRounds, "every: 1h\nrounds: 5\n": 5,
		"every: 2562047h\nfor: 2562047h1m\n": 2,
	} {
		p := plans.Parse(t, plans.Minimal+keys)
		if p.Rounds != want || p.NamesRounds() == (keys == "every: 1h\n") {
			t.Errorf("%q: %d rounds, want %d", keys, p.Rounds, want)
		}
	}
	for keys, want := range map[string]string{
		"for: 24h\n":                        "for: needs every",
		"every: 1h\nfor: 24h\nrounds: 3\n":  "keep one of them; with every these are 24 rounds",
		"every: 1s\nfor: 24h\n":             "86400 rounds; at most 10",
		"every: 1ns\nfor: 2562047h47m16s\n": "at most 10",
	} {
		_, err := plan.Parse("p.yaml", []byte(plans.Minimal+keys))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", keys, err, want)
		}
	}
}
