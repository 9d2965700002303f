package campaign_test

import (
	"soku/test/plans"
	"strings"
	"testing"
	"time"

	"soku/internal/campaign"
	"soku/internal/campaign/plan"
	"soku/internal/measure"
)

// studyOf is the study with the number of rounds.
func studyOf(rounds string) string {
	return strings.Replace(plans.Study, "rounds: 2", "rounds: "+rounds, 1)
}

// raise goes on with the bench's campaign by a plan of the study with the number of rounds.
func (b *bench) raise(rounds string) {
	b.t.Helper()
	b.plan = plans.Parse(b.t, studyOf(rounds))
	b.resume()
	if err := b.campaign.RaiseRounds(time.Now()); err != nil {
		b.t.Fatal(err)
	}
}

func TestRoundsThatThePlanHasMoreAreItsOwnAlsoWhereTheCampaignHasThemAlready(t *testing.T) {
	b := newBench(t, plans.Study)
	b.create()
	if err := b.campaign.AddRounds(5, time.Now()); err != nil {
		t.Fatal(err)
	}
	b.raise("4")
	if err := b.campaign.Close(); err != nil || b.campaign.Rounds() != 7 {
		t.Fatalf("%d rounds, error %v", b.campaign.Rounds(), err)
	}
	_, err := campaign.Resume(b.campaigns(), b.campaign.ID(), plans.Parse(t, studyOf("3")))
	if e := measure.AsError(err, measure.KindInternal); e == nil || e.Code != "campaign.rounds_lowered" || e.Figures["before"] != 4.0 {
		t.Errorf("rounds: 3 after rounds: 4: %v", err)
	}
}

func TestTooManyRoundsOfAPlanAreRefused(t *testing.T) {
	b := newBench(t, plans.Study)
	b.create()
	b.plan = plans.Parse(t, studyOf("10000"))
	b.plan.Rounds = 1 << 22 // more than a plan may say
	b.resume()
	if err := b.campaign.RaiseRounds(time.Now()); measure.KindOf(err) != measure.KindUsage || b.campaign.Rounds() != 2 {
		t.Errorf("%d rounds, error %v", b.campaign.Rounds(), err)
	}
}

func TestTooManyTrialsOfLevelsAreRefused(t *testing.T) {
	b := newBench(t, plans.Study)
	b.create()
	if err := b.campaign.AddRounds((plan.MaxTrials-b.campaign.Trials())/b.campaign.Plan.TrialsOfRound(), time.Now()); err != nil {
		t.Fatal(err)
	}
	trials := b.campaign.Trials()
	b.plan = plans.Parse(t, strings.Replace(plans.Study, "sku: [", "sku: [{name: tiny, options: {dscp: 12}}, ", 1))
	b.resume()
	if err := b.campaign.RaiseRounds(time.Now()); measure.KindOf(err) != measure.KindUsage || b.campaign.Trials() != trials {
		t.Errorf("%d trials, error %v", b.campaign.Trials(), err)
	}
}

func TestTheEstimateOfACampaignWithMoreLevelsHasTheRoundsOfEach(t *testing.T) {
	b := newBench(t, plans.Study)
	b.create()
	if _, err := b.run(); err != nil {
		t.Fatal(err)
	}
	before := b.campaign.Estimate(nil)
	b.plan = plans.Parse(t, strings.Replace(plans.Study, "sku: [", "sku: [{name: tiny, options: {dscp: 12}}, ", 1))
	b.resume()
	if err := b.campaign.RaiseRounds(time.Now()); err != nil {
		t.Fatal(err)
	}
	e := b.campaign.Estimate(nil)
	if want := before.Trials + before.Trials*3/2; e.Trials != want || e.Trials != b.campaign.Trials() || e.Time != before.Time*5/2 {
		t.Errorf("%d trials in %v, want %d in %v; the campaign has %d", e.Trials, e.Time, want, before.Time*5/2, b.campaign.Trials())
	}
	if a := b.campaign.Additions(); len(a) != 1 || a[0].FirstRound != 3 || len(a[0].Levels) != 1 || a[0].Levels[0].Value != "tiny" {
		t.Errorf("additions are %+v", a)
	}
	if got := b.campaign.Entry(); got.Patterns != 3*before.Patterns/2 {
		t.Errorf("the store has %d patterns", got.Patterns)
	}
}
