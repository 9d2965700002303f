package campaign_test

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"soku/internal/campaign"
	"soku/internal/measure"
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
func noisy(noise map[string]float64) func(campaign.Job) float64 {
	return func(j campaign.Job) float64 {
		h := fnv.New64a()
		_, _ = h.Write([]byte(j.Key().String()))
		r := rand.New(rand.NewPCG(h.Sum64(), 1))
		return 1e9 * (1 + noise[j.Trial.Levels[0].Value]*r.NormFloat64())
	}
}

func TestRoundsAreAddedUntilEveryIntervalIsNarrow(t *testing.T) {
	b := newBench(t, untilStudy+"until: {interval: 2%, max_rounds: 60}\n")
	b.goodput = noisy(map[string]float64{"small": 0.001, "large": 0.04})
	b.create()
	out, err := b.run()
	if err != nil {
		t.Fatal(err)
	}
	rounds := b.campaign.Rounds()
	e := out.Enough
	if e == nil || !e.Reached || e.Ratio > 0.02 || e.Pattern != "large" || e.Label != "up" || e.Rounds != rounds {
		t.Fatalf("%d rounds, %+v", rounds, e)
	}
	// 4 % noise needs about (1.96 * 4 / 2)^2 = 15 rounds, and some for the guard.
	if rounds < 10 || rounds > 40 || out.Done != 2*rounds || out.Total != out.Done {
		t.Errorf("%d rounds, %+v", rounds, out)
	}
	b.onceEach(2 * rounds)
	// One round less was not enough.
	last := 0.0
	for _, event := range b.events {
		if event.Kind == campaign.EventResult && event.Done <= 2*(rounds-1) {
			last = event.Width
		}
	}
	if last <= 0.02 {
		t.Errorf("after %d rounds the widest interval was %g already", rounds-1, last)
	}
	// Nothing is left to do, also after the journal was read again.
	b.resume()
	if out, err = b.run(); err != nil || out.Ran != 0 || !out.Enough.Reached || b.campaign.Unfinished(nil) {
		t.Errorf("again: %+v, %+v, error %v", out, out.Enough, err)
	}
}

func TestTheFirstLookIsAfterEightRounds(t *testing.T) {
	b := newBench(t, untilStudy+"until: {interval: 2%}\n")
	b.goodput = func(campaign.Job) float64 { return 1e9 } // as narrow as can be
	b.create()
	if out, err := b.run(); err != nil || b.campaign.Rounds() != 8 || !out.Enough.Reached || out.Done != 16 {
		t.Errorf("%d rounds, %+v, error %v", b.campaign.Rounds(), out, err)
	}
}

func TestUntilIsGivenUpAfterMaxRounds(t *testing.T) {
	b := newBench(t, untilStudy+"until: {interval: 1%, max_rounds: 9}\n")
	b.goodput = noisy(map[string]float64{"small": 0.1, "large": 0.1})
	b.create()
	out, err := b.run()
	if err != nil || out.Done != 18 || out.Enough.Reached || out.Enough.Limit != campaign.LimitRounds || out.Enough.Ratio < 0.01 {
		t.Fatalf("%+v, %+v, error %v", out, out.Enough, err)
	}
	// The limit may be raised.
	b.plan.Until.MaxRounds = 11
	b.resume()
	if !b.campaign.Unfinished(nil) {
		t.Error("no rounds are to be added")
	}
	if out, err = b.run(); err != nil || out.Ran != 4 || b.campaign.Rounds() != 11 {
		t.Errorf("%+v, %d rounds, error %v", out, b.campaign.Rounds(), err)
	}
}

func TestNoRoundIsAddedThatWouldEndAfterTheBudgetOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, untilStudy+"until: {interval: 1%}\nbudget: {time: 11s}\n")
		b.goodput = noisy(map[string]float64{"small": 0.1, "large": 0.1})
		b.lasting(time.Second) // a round takes 2 s
		b.create()
		out, err := b.run()
		if err != nil || out.Enough.Reached || out.Enough.Limit != campaign.LimitTime || b.campaign.Rounds() != 5 || out.Done != 10 {
			t.Fatalf("%d rounds, %+v, %+v, error %v", b.campaign.Rounds(), out, out.Enough, err)
		}
		b.resume()
		b.plan.Budget.Time = measure.Duration(15 * time.Second)
		if out, err = b.run(); err != nil || b.campaign.Rounds() != 7 || out.Done != 14 {
			t.Errorf("%d rounds, %+v, error %v", b.campaign.Rounds(), out, err)
		}
	})
}

func TestASelectionIsMeasuredUntilItsOwnIntervalsAreNarrow(t *testing.T) {
	b := newBench(t, untilStudy+"until: {interval: 2%, max_rounds: 60}\n")
	b.goodput = noisy(map[string]float64{"small": 0.001, "large": 0.04})
	b.create()
	b.exec.Only = selection("sku", "small")
	out, err := b.run()
	if err != nil || b.campaign.Rounds() != 8 || !out.Enough.Reached || out.Done != 8 || out.Left != 8 {
		t.Fatalf("%d rounds, %+v, error %v", b.campaign.Rounds(), out, err)
	}
	b.exec.Only = selection("sku", "large")
	b.resume()
	if out, err = b.run(); err != nil || !out.Enough.Reached || b.campaign.Rounds() <= 8 || out.Done != b.campaign.Rounds() {
		t.Fatalf("%d rounds, %+v, error %v", b.campaign.Rounds(), out, err)
	}
	// The rounds are those of the whole campaign.
	b.exec.Only = nil
	b.resume()
	if out, err = b.run(); err != nil || out.Done != 2*b.campaign.Rounds() {
		t.Errorf("%d rounds, %+v, error %v", b.campaign.Rounds(), out, err)
	}
}

func TestPatternsWithoutAFigureDoNotKeepACampaignGoing(t *testing.T) {
	b := newBench(t, untilStudy+"until: {interval: 2%}\nabort_after: 0\n")
	b.goodput = func(campaign.Job) float64 { return 1e9 }
	b.fail = func(j campaign.Job) error {
		if j.Trial.Levels[0].Value == "large" {
			return measure.Fail(measure.KindBroken, "campaign.empty_shell", nil)
		}
		return nil
	}
	b.create()
	out, err := b.run()
	if measure.KindOf(err) != measure.KindIncomplete || !out.Enough.Reached || b.campaign.Rounds() != 8 || out.Failed != 8 {
		t.Errorf("%d rounds, %+v, error %v", b.campaign.Rounds(), out, err)
	}
	b = newBench(t, untilStudy+"until: {interval: 2%}\nabort_after: 0\n")
	b.fail = func(campaign.Job) error { return measure.Fail(measure.KindBroken, "campaign.empty_shell", nil) }
	b.create()
	if out, err = b.run(); out.Done != 4 || out.Enough.Reached || out.Enough.Limit != campaign.LimitFailed {
		t.Errorf("%+v, %+v, error %v", out, out.Enough, err)
	}
}

func TestNoRoundIsAddedWhileTrialsAreLeftThatCouldNotRun(t *testing.T) {
	plan := strings.NewReplacer("{vm: {address: 10.0.0.4}}\nto: vm", "{vm: {address: 10.0.0.4}, gone: {address: 10.0.0.5}}",
		"[small, {name: large, options: {dscp: 8}}]", "[{name: small, to: vm}, {name: large, to: gone}]").Replace(untilStudy)
	b := newBench(t, plan+"until: {interval: 1%, max_rounds: 20}\nabort_after: 2\n")
	b.goodput = noisy(map[string]float64{"small": 0.1})
	b.fail = func(j campaign.Job) error {
		if j.Server.Endpoint.Name == "gone" {
			return refused()
		}
		return nil
	}
	b.create()
	out, err := b.run() // two rounds, and those up to the first look, in which large is left out
	if measure.KindOf(err) != measure.KindIncomplete || out.Skipped != 6 || out.Failed != 2 || b.campaign.Rounds() != 8 || out.Enough.Reached || out.Enough.Limit != "" {
		t.Errorf("%d rounds, %+v, %+v, error %v", b.campaign.Rounds(), out, out.Enough, err)
	}
}

func TestOnlyTheNamedTestsHaveToBeNarrow(t *testing.T) {
	plan := strings.Replace(untilStudy, "tests: {up:", "tests: {down: {test: tcp, duration: 2s}, up:", 1)
	b := newBench(t, plan+"until: {interval: 2%, tests: [up]}\n")
	steady, rough := noisy(nil), noisy(map[string]float64{"small": 0.2, "large": 0.2})
	b.goodput = func(j campaign.Job) float64 {
		if j.Trial.Label == "up" {
			return steady(j)
		}
		return rough(j)
	}
	b.create()
	if out, err := b.run(); err != nil || !out.Enough.Reached || b.campaign.Rounds() != 8 {
		t.Errorf("%d rounds, %+v, error %v", b.campaign.Rounds(), out, err)
	}
}

func TestUntilMayBeAddedToACampaignThatHasEnded(t *testing.T) {
	b := newBench(t, untilStudy)
	b.goodput = func(campaign.Job) float64 { return 1e9 }
	b.create()
	if out, err := b.run(); err != nil || out.Enough != nil || out.Done != 4 {
		t.Fatalf("%+v, error %v", out, err)
	}
	b.plan = parse(t, untilStudy+"until: {interval: 2%}\n")
	b.resume()
	if out, err := b.run(); err != nil || out.Done != 16 || !out.Enough.Reached {
		t.Errorf("%+v, error %v", out, err)
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
		_, err := campaign.Parse("plan.yaml", []byte(untilStudy+keys))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s%v, want %s", keys, err, want)
		}
	}
	_, err := campaign.Parse("plan.yaml", []byte(strings.Replace(untilStudy, "rounds: 2", "rounds: 30", 1)+"until: {interval: 2%, max_rounds: 20}\n"))
	if err == nil || !strings.Contains(err.Error(), "the plan has 30 rounds, which is more than 20") {
		t.Errorf("more rounds than max_rounds: %v", err)
	}
}

// selection is the patterns with one level of a factor.
func selection(factor, level string) campaign.Selection {
	return campaign.Selection{{Name: factor, Value: []string{level}}}
}
