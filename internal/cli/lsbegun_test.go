package cli

import (
	"os"
	"strings"
	"testing"
	"time"

	"soku/internal/campaign"
	"soku/internal/campaign/plan"
)

func TestACampaignThatWasKilledAtItsStartIsListed(t *testing.T) {
	sys, out, errs := fakeSystem(t, "ls", "--campaigns")
	p, err := plan.Parse("plan.yaml", []byte("campaign: early\ntitle: Too early?\nendpoints: {vm: {address: 10.0.0.4}}\nto: vm\ntests: {rtt: {test: ping}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	create := func(after time.Duration) (id string) {
		c, err := campaign.Create(campaignsDir(sys), p, 1, "test", sys.Now().Add(after))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		return c.ID()
	}
	id := create(0)
	if err := os.MkdirAll(campaignsDir(sys).Name()+"/not-a-campaign", 0o700); err != nil {
		t.Fatal(err)
	}
	if code := Run(sys); code != 0 || !strings.Contains(out.String(), id) || !strings.Contains(out.String(), "0/6     open   Too early?") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	later := create(time.Hour)
	out.Reset()
	sys.Args = []string{"ls", "--campaigns", "-n", "1"}
	if code := Run(sys); code != 0 || strings.Contains(out.String(), id) || !strings.Contains(out.String(), later) || !strings.Contains(errs.String(), "1 of 2") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
}
