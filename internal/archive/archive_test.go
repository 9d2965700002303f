package archive

import (
	"testing"
	"time"

	"soku/internal/campaign"
	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/memory"
)

func TestTheLastCampaignIsTheOneThatWasBegunLast(t *testing.T) {
	ctx, st := t.Context(), memory.New()
	a := Archive{Store: st, Journals: new(journal.Memory)}
	var begun []string
	begin := func(name string, at time.Time, stored bool) {
		t.Helper()
		p, err := plan.Parse("plan.yaml", []byte("campaign: "+name+"\nendpoints: {vm: {address: h}}\nto: vm\ntests: {up: {test: tcp}}\n"))
		if err != nil {
			t.Fatal(err)
		}
		c, err := campaign.Create(a.Journals, p, 1, "test", at)
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
		if c, err := a.Find(ctx, text); err != nil || c.ID != want {
			t.Errorf("%s is %s, error %v; want %s", text, c.ID, err, want)
		}
	}
	// One without a journal, such as an ingested one, is found by its time.
	if err := st.PutCampaign(ctx, store.Campaign{ID: "ingested-1", Name: "study", StartedAt: now.AddDate(2, 0, 0)}); err != nil {
		t.Fatal(err)
	}
	if c, err := a.Find(ctx, "study"); err != nil || c.ID != "ingested-1" {
		t.Errorf("study is %s, error %v", c.ID, err)
	}
}

func TestARunningCampaignIsNotDeleted(t *testing.T) {
	ctx, st := t.Context(), memory.New()
	a := Archive{Store: st, Journals: journal.Folder(t.TempDir()), Own: true}
	p, err := plan.Parse("plan.yaml", []byte("campaign: study\nendpoints: {vm: {address: h}}\nto: vm\ntests: {up: {test: tcp}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	var all []store.Campaign
	for range 2 {
		c, err := campaign.Create(a.Journals, p, 1, "test", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := st.PutCampaign(ctx, c.Entry()); err != nil {
			t.Fatal(err)
		}
		if all = append(all, c.Entry()); len(all) == 1 {
			_ = c.Close()
		}
	}
	var kept []*measure.Error
	d, err := a.Delete(ctx, all, func(e *measure.Error) { kept = append(kept, e) })
	if err != nil || d.Campaigns != 1 || len(kept) != 1 || kept[0].Code != "cli.rm.running" {
		t.Errorf("%+v, %v, %v", d, kept, err)
	}
	left, err := a.StartedBefore(ctx, time.Now().Add(time.Hour))
	if err != nil || len(left) != 1 || left[0].ID != all[1].ID {
		t.Errorf("left %+v, %v", left, err)
	}
}
