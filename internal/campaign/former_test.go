package campaign_test

import (
	"strings"
	"testing"

	"soku/internal/campaign"
	"soku/internal/measure"
)

func TestAFormerKeyIsAnErrorThatNamesTheNewForm(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{"max_bytes: 50G\n", "p.yaml:5:1: max_bytes is no longer a key of plans; write budget: {bytes: 50G}"},
		{"egress_price_per_gb: 0.08\n", "p.yaml:5:1: egress_price_per_gb is no longer a key of plans; write budget: {egress_price_per_gb: 0.08}"},
		{"rounds: 4\nuntil: {interval: 2%, max_time: 2h}\n", "p.yaml:6:23: until.max_time is no longer a key of plans; write budget: {time: 2h}"},
		{"budget: {max_bytes: 1G}\n", `p.yaml:5:10: budget: unknown key "max_bytes"`},
	} {
		_, err := campaign.Parse("p.yaml", []byte(minimal+c.keys))
		if err == nil || measure.KindOf(err) != measure.KindFile || !strings.Contains(err.Error(), c.want) {
			t.Errorf("with %serror is %v\nwant     %s", c.keys, err, c.want)
		}
	}
}

func TestACampaignThatBeganWithFormerKeysOfTheBudgetResumes(t *testing.T) {
	former := "max_bytes: 50G\negress_price_per_gb: 0.08\nuntil: {interval: 2%, max_time: 2h}\nbudget: {price: 20}\n"
	b := newBench(t, study)
	b.plan.Text = []byte(study + former)
	b.create()
	id := b.campaign.ID()
	if err := b.campaign.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := campaign.ParseRecorded("plan.yaml", []byte(study+former)); err != nil {
		t.Fatal(err)
	}
	b.plan = parse(t, study+"budget: {bytes: 50G, egress_price_per_gb: 0.08, time: 2h, price: 20}\nuntil: {interval: 2%}\n")
	c, err := campaign.Resume(b.campaigns(), id, b.plan)
	if err != nil {
		t.Fatal(err)
	}
	b.campaign = c
}
