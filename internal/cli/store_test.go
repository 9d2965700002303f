package cli

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"soku/internal/campaign"
	"soku/internal/store"
)

func TestTheLastCampaignIsTheOneThatWasBegunLast(t *testing.T) {
	sys, _, _ := fakeSystem(t)
	ctx := context.Background()
	st, err := openStore(ctx, sys, filepath.Join(t.TempDir(), "soku.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var begun []string
	begin := func(name string, at time.Time, stored bool) {
		t.Helper()
		p, err := campaign.Parse("plan.yaml", []byte("campaign: "+name+"\nendpoints: {vm: {address: h}}\nto: vm\ntests: {up: {test: tcp}}\n"))
		if err != nil {
			t.Fatal(err)
		}
		c, err := campaign.Create(campaignsDir(sys), p, 1, "test", at)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if begun = append(begun, c.ID()); stored {
			if err := st.PutCampaign(ctx, c.Entry()); err != nil {
				t.Fatal(err)
			}
		}
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	begin("study", now.AddDate(1, 0, 0), true) // the clock was a year ahead
	begin("study", now, true)
	begin("other", now.Add(-time.Hour), true)
	begin("study", now.Add(time.Hour), false) // killed before it reached the store
	for text, want := range map[string]string{"study": begun[1], "last": begun[2], "other": begun[2], begun[0]: begun[0], begun[0][:8]: begun[0]} {
		if c, err := findCampaign(ctx, sys, st, text); err != nil || c.ID != want {
			t.Errorf("%s is %s, error %v; want %s", text, c.ID, err, want)
		}
	}
	// One without a journal, such as an ingested one, is found by its time.
	if err := st.PutCampaign(ctx, store.Campaign{ID: "ingested-1", Name: "study", StartedAt: now.AddDate(2, 0, 0)}); err != nil {
		t.Fatal(err)
	}
	if c, err := findCampaign(ctx, sys, st, "study"); err != nil || c.ID != "ingested-1" {
		t.Errorf("study is %s, error %v", c.ID, err)
	}
}
