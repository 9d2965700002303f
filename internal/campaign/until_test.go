package campaign_test

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"soku/internal/campaign"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
)

// untilStudy is a plan of two patterns and one trial of each a round.
const untilStudy = `campaign: study
endpoints: {vm: {address: 10.0.0.4}}
to: vm
factors: {sku: [small, {name: large, options: {dscp: 8}}]}
tests: {up: {test: tcp, duration: 1s}}
rounds: 2
`

// noisy is a goodput with this relative standard deviation for each level of the factor sku,
// the same for a trial whenever it runs.
func noisy(noise map[string]float64) func(schedule.Job) float64 {
	return func(j schedule.Job) float64 {
		h := fnv.New64a()
		_, _ = h.Write([]byte(j.Key().String()))
		r := rand.New(rand.NewPCG(h.Sum64(), 1))
		return 1e9 * (1 + noise[j.Trial.Levels[0].Value]*r.NormFloat64())
	}
}

func TestTheWidthOfAnIntervalIsUnknownWithOneRound(t *testing.T) {
	b := newBench(t, untilStudy+"until: {interval: 2%}\n")
	b.goodput = noisy(map[string]float64{"small": 0.01, "large": 0.01})
	b.create()
	if _, err := b.run(); err != nil {
		t.Fatal(err)
	}
	for _, e := range b.events {
		if known := e.Width > 0 && !math.IsInf(e.Width, 0); e.Kind == campaign.EventResult && known != (e.Done >= 4) {
			t.Errorf("after %d trials the width is %g", e.Done, e.Width)
		}
	}
}

func TestMistakesInUntil(t *testing.T) {
	for keys, want := range map[string]string{
		"until: {max_rounds: 20}\n":                  "plan.yaml:7:8: until: nothing says when there are enough rounds",
		"until: {interval: 2%, max_rounds: 5}\n":     "plan.yaml:7:35: ",
		"until: {interval: 2}\n":                     "plan.yaml:7:19: ",
		"until: {interval: 2%, tests: [dwon, up]}\n": "no test has the label \"dwon\"",
	} {
		_, err := plan.Parse("plan.yaml", []byte(untilStudy+keys))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s%v, want %s", keys, err, want)
		}
	}
	_, err := plan.Parse("plan.yaml", []byte(strings.Replace(untilStudy, "rounds: 2", "rounds: 30", 1)+"until: {interval: 2%, max_rounds: 20}\n"))
	if err == nil || !strings.Contains(err.Error(), "the plan has 30 rounds, which is more than 20") {
		t.Errorf("more rounds than max_rounds: %v", err)
	}
}

// selection is the patterns with one level of a factor.
func selection(factor, level string) plan.Selection {
	return plan.Selection{{Name: factor, Value: []string{level}}}
}
