package campaign_test

import (
	"strings"
	"testing"
	"time"

	"soku/internal/campaign"
	"soku/internal/measure"
)

// studyOf is the study with the number of rounds.
func studyOf(rounds string) string { return strings.Replace(study, "rounds: 2", "rounds: "+rounds, 1) }

// raise goes on with the bench's campaign by a plan of the study with the number of rounds.
func (b *bench) raise(rounds string) {
	b.t.Helper()
	b.plan = parse(b.t, studyOf(rounds))
	b.resume()
	if err := b.campaign.RaiseRounds(time.Now()); err != nil {
		b.t.Fatal(err)
	}
}

func TestRoundsThatThePlanHasMoreAreRun(t *testing.T) {
	b := newBench(t, study)
	b.create()
	if out, err := b.run(); err != nil || out.Total != 16 {
		t.Fatalf("outcome %+v, error %v", out, err)
	}
	for _, step := range []struct {
		plan               string
		add, rounds, tests int // tests: trials that run
	}{
		{"2", 0, 2, 0},
		{"3", 0, 3, 8},
		{"3", 2, 5, 16}, // by a command
		{"3", 0, 5, 0},
		{"4", 0, 5, 0}, // has as many already
		{"6", 0, 6, 8},
	} {
		b.raise(step.plan)
		if step.add > 0 {
			if err := b.campaign.AddRounds(step.add, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		out, err := b.run()
		if err != nil || out.Ran != step.tests || out.Done != step.rounds*8 || b.campaign.Rounds() != step.rounds {
			t.Fatalf("rounds: %s and %d more: %d rounds, outcome %+v, error %v", step.plan, step.add, b.campaign.Rounds(), out, err)
		}
	}
	b.onceEach(48)
	if e := b.campaign.Estimate(nil); e.Trials != 48 {
		t.Errorf("estimate of %d trials, want 48", e.Trials)
	}
}

func TestACampaignHasNotFewerRoundsThanItsPlanHadBefore(t *testing.T) {
	b := newBench(t, study)
	b.create()
	b.raise("5")
	if err := b.campaign.Close(); err != nil {
		t.Fatal(err)
	}
	for _, fewer := range []string{"1", "2", "4"} {
		_, err := campaign.Resume(b.campaigns(), b.campaign.ID(), parse(t, studyOf(fewer)))
		if e := measure.AsError(err, measure.KindInternal); e.Kind != measure.KindUsage || e.Code != "campaign.rounds_lowered" || e.Figures["before"] != 5.0 {
			t.Errorf("rounds: %s: %v", fewer, err)
		}
	}
}

func TestRoundsThatThePlanHasMoreAreItsOwnAlsoWhereTheCampaignHasThemAlready(t *testing.T) {
	b := newBench(t, study)
	b.create()
	if err := b.campaign.AddRounds(5, time.Now()); err != nil {
		t.Fatal(err)
	}
	b.raise("4")
	if err := b.campaign.Close(); err != nil || b.campaign.Rounds() != 7 {
		t.Fatalf("%d rounds, error %v", b.campaign.Rounds(), err)
	}
	_, err := campaign.Resume(b.campaigns(), b.campaign.ID(), parse(t, studyOf("3")))
	if e := measure.AsError(err, measure.KindInternal); e == nil || e.Code != "campaign.rounds_lowered" || e.Figures["before"] != 4.0 {
		t.Errorf("rounds: 3 after rounds: 4: %v", err)
	}
}

func TestTooManyRoundsOfAPlanAreRefused(t *testing.T) {
	b := newBench(t, study)
	b.create()
	b.plan = parse(t, studyOf("10000"))
	b.plan.Rounds = 1 << 22 // more than a plan may say
	b.resume()
	if err := b.campaign.RaiseRounds(time.Now()); measure.KindOf(err) != measure.KindUsage || b.campaign.Rounds() != 2 {
		t.Errorf("%d rounds, error %v", b.campaign.Rounds(), err)
	}
}
