package campaign_test

import (
	"soku/test/plans"
	"testing"

	"soku/internal/campaign"
	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
)

func TestACampaignRunsAndResumesInMemory(t *testing.T) {
	b := newBench(t, plans.Study)
	in := new(journal.Memory)
	c, err := campaign.Create(in, b.plan, 42, "test", b.exec.Now())
	if err != nil {
		t.Fatal(err)
	}
	b.hold(c)
	b.exec.Only = plan.Selection{{Name: "sku", Value: []string{"large"}}}
	if out, err := b.run(); err != nil || out.Ran != 8 {
		t.Fatalf("outcome %+v, error %v", out, err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if b.campaign, err = campaign.Resume(in, c.ID(), b.plan); err != nil {
		t.Fatal(err)
	}
	b.exec.Only = nil
	if out, err := b.run(); err != nil || out.Ran != 8 {
		t.Fatalf("outcome %+v, error %v", out, err)
	}
	b.onceEach(16)
}
