package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"soku/internal/measure"
	"soku/internal/store"
)

var lifetime = map[string]func(*testing.T, store.Store){
	"serves many goroutines":                 concurrent,
	"ends with its context":                  canceled,
	"a stream ends with its context":         canceledStream,
	"says that it is closed":                 closed,
	"an empty store is empty and no failure": empty,
}

func concurrent(t *testing.T, s store.Store) {
	const writers, each = 8, 10
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				if err := s.Put(t.Context(), Result(fmt.Sprintf("w%d-%d", w, i), i)); err != nil {
					t.Error(err)
				}
				if err := s.Put(t.Context(), Result(fmt.Sprintf("all-%d", i), i)); err != nil {
					t.Error(err)
				}
				if _, err := s.List(t.Context(), store.Query{Limit: 3}); err != nil {
					t.Error(err)
				}
				for _, err := range s.Results(t.Context(), store.Query{Limit: 2}, store.Whole) {
					if err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	wantCount(t, s, writers*each+each)
}

func canceled(t *testing.T, s store.Store) {
	put(t, s, Result("before", 1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantKind(t, s.Put(ctx, Result("after", 1)), measure.KindInterrupted)
	wantKind(t, s.PutCampaign(ctx, campaign("after", "study", 1)), measure.KindInterrupted)
	_, err := s.Get(ctx, "before")
	wantKind(t, err, measure.KindInterrupted)
	_, err = s.List(ctx, store.Query{})
	wantKind(t, err, measure.KindInterrupted)
	if _, err := s.Get(t.Context(), "before"); err != nil {
		t.Errorf("the store does not go on after a canceled call: %v", err)
	}
	_, err = s.Get(t.Context(), "after")
	wantKind(t, err, measure.KindNotFound)
	_, err = s.Campaign(t.Context(), "after")
	wantKind(t, err, measure.KindNotFound)
}

func canceledStream(t *testing.T, s store.Store) {
	for i := range 200 {
		put(t, s, Result(fmt.Sprint(i), i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := 0
	var last error
	for r, err := range s.Results(ctx, store.Query{}, store.Whole) {
		if last = err; r != nil {
			seen++
		}
		cancel()
	}
	if seen == 0 || seen == 200 {
		t.Errorf("the loop saw %d results", seen)
	}
	wantKind(t, last, measure.KindInterrupted)
}

func closed(t *testing.T, s store.Store) {
	put(t, s, Result("a", 1))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("the second Close: %v", err)
	}
	wantKind(t, s.Put(t.Context(), Result("late", 1)), measure.KindStore)
	wantKind(t, s.PutCampaign(t.Context(), campaign("late", "study", 1)), measure.KindStore)
	_, err := s.Get(t.Context(), "a")
	wantKind(t, err, measure.KindStore)
	_, err = s.Missing(t.Context(), []string{"a"})
	wantKind(t, err, measure.KindStore)
	_, err = s.List(t.Context(), store.Query{})
	wantKind(t, err, measure.KindStore)
	_, err = s.Count(t.Context(), store.Query{})
	wantKind(t, err, measure.KindStore)
	_, err = s.Campaigns(t.Context(), store.CampaignQuery{})
	wantKind(t, err, measure.KindStore)
	_, err = s.DeleteCampaign(t.Context(), "c1")
	wantKind(t, err, measure.KindStore)
	for _, err := range s.Results(t.Context(), store.Query{}, store.Whole) {
		wantKind(t, err, measure.KindStore)
	}
}

func empty(t *testing.T, s store.Store) {
	wantCount(t, s, 0)
	wantList(t, s, store.Query{})
	wantCampaigns(t, s, store.CampaignQuery{})
	page, err := s.List(t.Context(), store.Query{Limit: 1})
	if err != nil || len(page.Items) != 0 || page.Next != "" {
		t.Errorf("%v, %v", page, err)
	}
}
