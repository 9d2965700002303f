package cli

import (
	"os"
	"strings"
	"testing"

	"soku/internal/campaign"
)

func TestACampaignThatWasKilledAtItsStartIsListed(t *testing.T) {
	sys, out, errs := fakeSystem(t, "ls", "--campaigns")
	p, err := campaign.Parse("plan.yaml", []byte("campaign: early\ntitle: Too early?\nendpoints: {vm: {address: 10.0.0.4}}\nto: vm\ntests: {rtt: {test: ping}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := campaign.Create(campaignsDir(sys), p, 1, "test", sys.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(campaignsDir(sys).Name()+"/not-a-campaign", 0o700); err != nil {
		t.Fatal(err)
	}
	if code := Run(sys); code != 0 || !strings.Contains(out.String(), c.ID()) || !strings.Contains(out.String(), "0/3     open   Too early?") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
}
