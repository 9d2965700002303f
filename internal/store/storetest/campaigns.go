package storetest

import (
	"testing"

	"soku/internal/measure"
	"soku/internal/store"
)

func inCampaign(r *measure.Result, campaign, pattern string, round, order, repeat int) *measure.Result {
	r.Trial = &measure.Trial{Campaign: campaign, Name: "study", Pattern: pattern, Label: "throughput",
		Levels: []measure.Level{{Factor: "sku", Value: pattern}}, Round: round, Order: order, Repeat: repeat, Seed: 7}
	return r
}

func campaign(id, name string, n int) store.Campaign {
	return store.Campaign{ID: id, Name: name, Title: "Which carries most?", Seed: -42, Patterns: 4, Trials: 24, Done: 3, Failed: 1,
		StartedAt: Result("", n).StartedAt, Plan: "campaign: " + name + "\n# 注釈\n"}
}

func campaignWhole(t *testing.T, s store.Store) {
	c := campaign("c1", "study", 1)
	c.FinishedAt = Result("", 100).StartedAt
	if err := s.PutCampaign(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	got, err := s.Campaign(t.Context(), "c1")
	if err != nil || got != c {
		t.Errorf("got %+v (%v), want %+v", got, err, c)
	}
}

func campaignReplaced(t *testing.T, s store.Store) {
	c := campaign("c1", "study", 1)
	for _, done := range []int{3, 24} {
		c.Done = done
		if err := s.PutCampaign(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.Campaigns(t.Context())
	if err != nil || len(all) != 1 || all[0] != c {
		t.Errorf("got %+v (%v), want one %+v", all, err, c)
	}
	if !all[0].FinishedAt.IsZero() {
		t.Error("an open campaign has an end")
	}
}

func campaignByIdentity(t *testing.T, s store.Store) {
	for _, c := range []store.Campaign{
		campaign("2026-a", "study", 1), campaign("2026-b", "study", 2), campaign("2027-a", "other", 9), campaign("2028-c", "2027-a", 3),
	} {
		if err := s.PutCampaign(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	for ask, want := range map[string]string{
		"2026-a": "2026-a", "study": "2026-b", "other": "2027-a", "last": "2027-a", "2028-": "2028-c",
		"2027-a": "2027-a", // an identity wins over the same text as a name
	} {
		got, err := s.Campaign(t.Context(), ask)
		if err != nil {
			t.Errorf("Campaign(%s): %v", ask, err)
		} else if got.ID != want {
			t.Errorf("Campaign(%s) = %s, want %s", ask, got.ID, want)
		}
	}
	_, err := s.Campaign(t.Context(), "2026-")
	wantKind(t, err, measure.KindUsage)
	_, err = s.Campaign(t.Context(), "nothing")
	wantKind(t, err, measure.KindNotFound)
	all, err := s.Campaigns(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	order := ""
	for _, c := range all {
		order += c.ID + " "
	}
	if order != "2027-a 2028-c 2026-b 2026-a " {
		t.Errorf("campaigns come as %s", order)
	}
}

func campaignResults(t *testing.T, s store.Store) {
	put(t, s,
		inCampaign(Result("r6", 0), "c1", "a", 2, 1, 2),
		inCampaign(Result("r5", 1), "c1", "a", 2, 1, 1),
		inCampaign(Result("r2", 2), "c1", "b", 1, 10, 1),
		inCampaign(Result("r1", 3), "c1", "c", 1, 2, 1),
		inCampaign(Result("r3", 9), "c1", "b", 1, 10, 1), // started after r2: it replaces it
		inCampaign(Result("x", 4), "c11", "a", 1, 1, 1),
		Result("by hand", 5))
	results, err := s.CampaignResults(t.Context(), "c1")
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, r := range results {
		got += r.ID + " "
	}
	if got != "r1 r2 r3 r5 r6 " {
		t.Errorf("results come as %s", got)
	}
	for _, none := range []string{"", "c", "nothing"} {
		results, err := s.CampaignResults(t.Context(), none)
		if err != nil || len(results) != 0 {
			t.Errorf("campaign %q has %d results (%v), want none", none, len(results), err)
		}
	}
}
