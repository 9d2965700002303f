package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/store"
)

var campaigns = map[string]func(*testing.T, store.Store){
	"replaces a campaign":           campaignReplaced,
	"keeps a campaign whole":        campaignWhole,
	"finds a campaign by its ID":    campaignByIdentity,
	"lists and selects campaigns":   campaignList,
	"pages campaigns by a cursor":   campaignPages,
	"a campaign needs no result":    campaignAlone,
	"an ID is of one kind of thing": campaignIsNoResult,
}

func campaign(id, name string, n int) store.Campaign {
	return store.Campaign{ID: id, Name: name, Title: "Which carries most?", Seed: -42, Patterns: 4, Trials: 24, Done: 3, Failed: 1,
		StartedAt: at(n), Plan: "campaign: " + name + "\n# 注釈\n"}
}

func putCampaigns(t *testing.T, s store.Store, all ...store.Campaign) {
	t.Helper()
	for _, c := range all {
		if err := s.PutCampaign(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
}

func campaignWhole(t *testing.T, s store.Store) {
	c := campaign("c1", "study", 1)
	c.FinishedAt = at(100)
	putCampaigns(t, s, c)
	got, err := s.Campaign(t.Context(), "c1")
	if err != nil || got != c {
		t.Errorf("got %+v (%v), want %+v", got, err, c)
	}
}

func campaignReplaced(t *testing.T, s store.Store) {
	c := campaign("c1", "study", 1)
	c.FinishedAt = at(100)
	putCampaigns(t, s, c)
	c.Name, c.Done, c.FinishedAt, c.StartedAt = "renamed", 24, time.Time{}, at(7)
	putCampaigns(t, s, c)
	all, err := s.Campaigns(t.Context(), store.CampaignQuery{})
	if err != nil || len(all.Items) != 1 || all.Items[0] != c {
		t.Errorf("got %+v (%v), want one %+v", all, err, c)
	}
	if !all.Items[0].FinishedAt.IsZero() {
		t.Error("an open campaign has an end")
	}
	wantCampaigns(t, s, store.CampaignQuery{Name: "study"})
}

func campaignByIdentity(t *testing.T, s store.Store) {
	putCampaigns(t, s, campaign("2026-a", "study", 1), campaign("study", "other", 2))
	for _, id := range []string{"2026-a", "study"} {
		if c, err := s.Campaign(t.Context(), id); err != nil || c.ID != id {
			t.Errorf("Campaign(%s) = %s (%v)", id, c.ID, err)
		}
	}
	for _, ask := range []string{"", "last", "2026-", "other", "2026-A", "2026-_", "nothing"} {
		_, err := s.Campaign(t.Context(), ask)
		wantKind(t, err, measure.KindNotFound)
		if e := measure.AsError(err, ""); !strings.Contains(e.Message, fmt.Sprintf("%q", ask)) || !strings.Contains(e.Message, s.Name()) || e.Hint == "" {
			t.Errorf("Campaign(%q): %v", ask, err)
		}
	}
}

// wantCampaigns fails the test unless the query selects these identities, in order.
func wantCampaigns(t *testing.T, s store.Store, q store.CampaignQuery, want ...string) {
	t.Helper()
	page, err := s.Campaigns(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, c := range page.Items {
		got = append(got, c.ID)
	}
	if a, b := strings.Join(got, " "), strings.Join(want, " "); a != b {
		t.Errorf("Campaigns(%+v) = %s, want %s", q, a, b)
	}
}

func campaignList(t *testing.T, s store.Store) {
	putCampaigns(t, s, campaign("2026-a", "study", 1), campaign("2026-b", "study", 2), campaign("2027-a", "other", 9), campaign("2028-c", "2027-a", 3))
	wantCampaigns(t, s, store.CampaignQuery{}, "2027-a", "2028-c", "2026-b", "2026-a")
	wantCampaigns(t, s, store.CampaignQuery{Limit: 1}, "2027-a")
	wantCampaigns(t, s, store.CampaignQuery{Name: "study"}, "2026-b", "2026-a")
	wantCampaigns(t, s, store.CampaignQuery{Name: "study", Limit: 1}, "2026-b")
	wantCampaigns(t, s, store.CampaignQuery{IDPrefix: "202"}, "2027-a", "2028-c", "2026-b", "2026-a")
	wantCampaigns(t, s, store.CampaignQuery{IDPrefix: "2026-"}, "2026-b", "2026-a")
	for _, none := range []store.CampaignQuery{{Name: "stud"}, {Name: "2026-a"}, {IDPrefix: "20_"}, {IDPrefix: "2027", Name: "study"}} {
		wantCampaigns(t, s, none)
	}
}

func campaignPages(t *testing.T, s store.Store) {
	for i := range 10 {
		putCampaigns(t, s, campaign(fmt.Sprintf("c%d", i), "study", i/2))
	}
	q, got := store.CampaignQuery{Limit: 3}, ""
	for pages := 1; ; pages++ {
		page, err := s.Campaigns(t.Context(), q)
		if err != nil || pages > 4 {
			t.Fatalf("page %d: %v", pages, err)
		}
		for _, c := range page.Items {
			got += c.ID
		}
		if q.After = page.Next; q.After == "" {
			break
		}
	}
	if got != "c9c8c7c6c5c4c3c2c1c0" {
		t.Errorf("page by page they are %s", got)
	}
}

func campaignAlone(t *testing.T, s store.Store) {
	putCampaigns(t, s, campaign("c1", "study", 1))
	put(t, s, inCampaign(Result("r", 1), "c2", "a", 1, 1)) // and a result no campaign
	wantList(t, s, store.Query{Campaign: "c1"})
	wantList(t, s, store.Query{Campaign: "c2"}, "r")
	wantCampaigns(t, s, store.CampaignQuery{}, "c1")
}

func campaignIsNoResult(t *testing.T, s store.Store) {
	putCampaigns(t, s, campaign("a", "study", 1))
	put(t, s, Result("b", 1))
	_, err := s.Get(t.Context(), "a")
	wantKind(t, err, measure.KindNotFound)
	_, err = s.Campaign(t.Context(), "b")
	wantKind(t, err, measure.KindNotFound)
}
