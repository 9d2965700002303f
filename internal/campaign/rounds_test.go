package campaign_test

import (
	"soku/test/plans"
	"strings"
	"testing"
	"time"

	"soku/internal/campaign"
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
