package campaign_test

import (
	"slices"
	"strings"
	"testing"

	"soku/internal/campaign"
	"soku/internal/measure"
)

// apart is a goodput whose mean depends on the level of the factor sku, with this relative noise.
func apart(means map[string]float64, noise float64) func(campaign.Job) float64 {
	of := noisy(map[string]float64{"small": noise, "large": noise, "huge": noise})
	return func(j campaign.Job) float64 { return of(j) * means[j.Trial.Levels[0].Value] }
}

// threeSizes is untilStudy with a third level.
var threeSizes = strings.Replace(untilStudy, "{name: large, options: {dscp: 8}}", "{name: large, options: {dscp: 8}}, {name: huge, options: {dscp: 10}}", 1)

func TestRoundsAreAddedUntilEveryComparisonIsDecided(t *testing.T) {
	b := newBench(t, threeSizes+"until: {decided: true, max_rounds: 40}\npractical: 3%\n")
	// huge is the best; large makes no practical difference to it, small is worse.
	b.goodput = apart(map[string]float64{"small": 0.9, "large": 1, "huge": 1.001}, 0.02)
	b.create()
	out, err := b.run()
	if err != nil {
		t.Fatal(err)
	}
	e, rounds := out.Enough, b.campaign.Rounds()
	if e == nil || !e.Reached || e.Compared != 2 || e.Open != 0 || rounds <= 6 || rounds >= 40 || out.Done != 3*rounds {
		t.Fatalf("%d rounds, %+v", rounds, e)
	}
	// The round before left something open.
	var open []int
	for _, event := range b.events {
		if event.Kind == campaign.EventResult && event.Done >= 3*6+1 {
			open = append(open, event.Open)
		}
	}
	if len(open) == 0 || slices.Contains(open, 0) {
		t.Errorf("%d rounds, open before each: %v", rounds, open)
	}
	// Nothing is left to do, also after the journal was read again.
	b.resume()
	if out, err = b.run(); err != nil || out.Ran != 0 || !out.Enough.Reached || b.campaign.Unfinished(nil) {
		t.Errorf("again: %+v, %+v, error %v", out, out.Enough, err)
	}
}

func TestTheFirstLookAtComparisonsIsAfterSixRounds(t *testing.T) {
	for until, want := range map[string]int{
		"{decided: true, max_rounds: 20}":               6,
		"{decided: true}":                               6,
		"{decided: true, interval: 50%, max_rounds: 9}": 8, // both have to hold
	} {
		b := newBench(t, untilStudy+"until: "+until+"\n")
		b.goodput = apart(map[string]float64{"small": 1, "large": 2}, 0.001)
		b.create()
		if out, err := b.run(); err != nil || b.campaign.Rounds() != want || !out.Enough.Reached || out.Enough.Compared != 1 {
			t.Errorf("%s: %d rounds, %+v, error %v", until, b.campaign.Rounds(), out.Enough, err)
		}
	}
}

func TestADecidedCampaignGoesOnUntilItsIntervalsAreNarrow(t *testing.T) {
	b := newBench(t, untilStudy+"until: {decided: true, interval: 2%, max_rounds: 60}\n")
	b.goodput = apart(map[string]float64{"small": 1, "large": 2}, 0.04)
	b.create()
	if out, err := b.run(); err != nil || !out.Enough.Reached || b.campaign.Rounds() < 12 || out.Enough.Ratio > 0.02 || out.Enough.Open != 0 {
		t.Errorf("%d rounds, %+v, error %v", b.campaign.Rounds(), out.Enough, err)
	}
}

func TestWhatStaysUndecidedIsGivenUpAtTheLimit(t *testing.T) {
	b := newBench(t, untilStudy+"until: {decided: true, max_rounds: 9}\n")
	b.goodput = apart(map[string]float64{"small": 1, "large": 1.01}, 0.1)
	b.create()
	out, err := b.run()
	e := out.Enough
	if err != nil || e.Reached || e.Limit != campaign.LimitRounds || e.Compared != 1 || e.Open != 1 || e.OpenLabel != "up" || b.campaign.Rounds() != 9 {
		t.Fatalf("%d rounds, %+v, error %v", b.campaign.Rounds(), e, err)
	}
	if names := []string{e.A, e.B}; !slices.Contains(names, "small") || !slices.Contains(names, "large") {
		t.Errorf("open is %s against %s", e.A, e.B)
	}
}

func TestComparisonsAreWithWhatThePlanSays(t *testing.T) {
	means := map[string]float64{"small": 1, "large": 1.2, "huge": 1.5}
	for against, want := range map[string]int{"best": 2, "first": 2, "all": 3} {
		b := newBench(t, threeSizes+"until: {decided: true, max_rounds: 10, against: "+against+"}\n")
		b.goodput = apart(means, 0.003)
		b.create()
		if out, err := b.run(); err != nil || out.Enough.Compared != want || !out.Enough.Reached || b.campaign.Rounds() != 6 {
			t.Errorf("%s: %d rounds, %+v, error %v", against, b.campaign.Rounds(), out.Enough, err)
		}
		// Against huge both are decided, and large against small is not.
		b = newBench(t, threeSizes+"until: {decided: true, max_rounds: 10, against: "+against+"}\n")
		b.goodput = apart(map[string]float64{"small": 1, "large": 1.01, "huge": 2}, 0.05)
		b.create()
		if out, err := b.run(); err != nil || out.Enough.Reached != (against == "best") {
			t.Errorf("%s: %d rounds, %+v, error %v", against, b.campaign.Rounds(), out.Enough, err)
		}
	}
}

func TestTheControlIsNotCompared(t *testing.T) {
	b := newBench(t, threeSizes+"until: {decided: true, max_rounds: 10}\ncontrol: {sku: huge}\n")
	b.goodput = apart(map[string]float64{"small": 1, "large": 1.2, "huge": 1.5}, 0.003)
	b.create()
	if out, err := b.run(); err != nil || out.Enough.Compared != 1 || !out.Enough.Reached {
		t.Errorf("%+v, error %v", out.Enough, err)
	}
}

func TestOnePatternWithFiguresLeavesNothingToCompare(t *testing.T) {
	b := newBench(t, untilStudy+"until: {decided: true, max_rounds: 20}\nabort_after: 0\n")
	b.goodput = func(campaign.Job) float64 { return 1e9 }
	b.fail = func(j campaign.Job) error {
		if j.Trial.Levels[0].Value == "large" {
			return measure.Fail(measure.KindBroken, "campaign.empty_shell", nil)
		}
		return nil
	}
	b.create()
	if out, _ := b.run(); out.Enough.Reached || out.Enough.Limit != campaign.LimitSingle || b.campaign.Rounds() != 6 {
		t.Errorf("%d rounds, %+v", b.campaign.Rounds(), out.Enough)
	}
}

func TestMistakesInUntilDecided(t *testing.T) {
	for keys, want := range map[string]string{
		"until: {against: first}\n":                         "plan.yaml:7:8: until: nothing says when there are enough rounds",
		"until: {interval: 2%, against: first}\n":           "plan.yaml:7:32: until.against: ",
		"until: {decided: true, against: worst}\n":          "until.against: \"worst\" is no",
		"until: {decided: true}\nonly: {sku: small}\n":      "",
		"until: {decided: true, max_rounds: 5}\n":           "plan.yaml:7:36: ",
		"until: {decided: true}\nexclude: [{sku: small}]\n": "until.decided: there is one pattern",
		"until: {decided: true}\ncontrol: {sku: small}\n":   "until.decided: there is one pattern",
		"until: {decided: true, interval: 2%}\n":            "",
	} {
		_, err := campaign.Parse("plan.yaml", []byte(untilStudy+keys))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s%v, want %q", keys, err, want)
		}
	}
}
