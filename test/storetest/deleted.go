package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"soku/internal/measure"
	"soku/internal/store"
)

func deleted(t *testing.T, s store.Store) {
	gone, stays := inCampaign(Result("0001aaaa", 0), "c1", "ultra", 1, 1), inCampaign(Result("0001aaab", 1), "c1", "ultra", 1, 2)
	put(t, s, gone, stays)
	if err := s.PutCampaign(t.Context(), store.Campaign{ID: "c1", Name: "study", StartedAt: at(0)}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ids  []string
		want int
	}{{nil, 0}, {[]string{"0001", "0009ffff"}, 0}, {[]string{gone.ID, "0009ffff", gone.ID}, 1}, {[]string{gone.ID}, 0}} {
		if n, err := s.Delete(t.Context(), c.ids); err != nil || n != c.want {
			t.Errorf("Delete(%q): %d, %v, want %d", c.ids, n, err, c.want)
		}
	}
	_, err := s.Get(t.Context(), gone.ID)
	wantKind(t, err, measure.KindNotFound)
	for _, q := range []store.Query{{}, {Endpoint: "vm.vlan"}, {Levels: gone.Trial.Levels}, {Campaign: "c1"}} {
		page, err := s.List(t.Context(), q)
		if err != nil || len(page.Items) != 1 || page.Items[0].ID != stays.ID {
			t.Errorf("%+v selects %+v, %v", q, page.Items, err)
		}
	}
	if _, err := s.Campaign(t.Context(), "c1"); err != nil {
		t.Errorf("the campaign: %v", err)
	}
	put(t, s, gone) // as a journal does
	wantCount(t, s, 2)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Delete(ended, []string{gone.ID})
	wantKind(t, err, measure.KindInterrupted)
	wantCount(t, s, 2)
}

func deletedMany(t *testing.T, s store.Store) {
	var ids []string
	for i := range 60 {
		r := inCampaign(Result(fmt.Sprintf("%08d", i), i), "c1", "ultra", 1, i)
		put(t, s, r)
		ids = append(ids, r.ID)
	}
	if n, err := s.Delete(t.Context(), slices.Clone(ids[:50])); err != nil || n != 50 {
		t.Fatalf("%d, %v", n, err)
	}
	wantCount(t, s, 10)
	if n, err := s.Delete(t.Context(), ids[40:]); err != nil || n != 10 {
		t.Errorf("%d, %v", n, err)
	}
	wantCount(t, s, 0)
}

func deletedCampaign(t *testing.T, s store.Store) {
	for i := range 40 {
		put(t, s, inCampaign(Result(fmt.Sprintf("a%04d", i), i), "c1", "ultra", 1, i))
	}
	put(t, s, inCampaign(Result("b0001", 1), "c2", "ultra", 1, 1), Result("by-hand", 2))
	putCampaigns(t, s, campaign("c1", "study", 1), campaign("c2", "study", 2), campaign("c3", "other", 3))
	for _, c := range []struct {
		id   string
		want int
	}{{"c", 0}, {"", 0}, {"study", 0}, {"c1", 40}, {"c1", 0}, {"c3", 0}} {
		if n, err := s.DeleteCampaign(t.Context(), c.id); err != nil || n != c.want {
			t.Errorf("DeleteCampaign(%q): %d, %v, want %d", c.id, n, err, c.want)
		}
	}
	wantCount(t, s, 2)
	wantList(t, s, store.Query{Levels: []measure.Level{{Factor: "sku", Value: "ultra"}}}, "b0001")
	wantCampaigns(t, s, store.CampaignQuery{}, "c2")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.DeleteCampaign(ended, "c2")
	wantKind(t, err, measure.KindInterrupted)
	wantCount(t, s, 2)
}
