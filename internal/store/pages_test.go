package store_test

import (
	"fmt"
	"testing"

	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/memory"
	"soku/test/storetest"
)

func TestEntriesOfManyPages(t *testing.T) {
	s := memory.New()
	const results = 2500
	r := storetest.Result("", 0)
	r.Flows, r.Latency = nil, nil
	for i := range results {
		one := *r
		one.ID = fmt.Sprintf("%05d", i)
		if err := s.Put(t.Context(), &one); err != nil {
			t.Fatal(err)
		}
	}
	for limit, want := range map[int]int{0: results, 1: 1, 999: 999, 1000: 1000, 1001: 1001, 2000: 2000, 2500: 2500, 2501: 2500, 9999: 2500} {
		n := 0
		for e, err := range store.Entries(t.Context(), s, store.Query{OldestFirst: true, Limit: limit}) {
			if err != nil {
				t.Fatal(err)
			}
			if e.ID != fmt.Sprintf("%05d", n) {
				t.Fatalf("entry %d is %s", n, e.ID)
			}
			n++
		}
		if n != want {
			t.Errorf("a limit of %d gives %d entries, want %d", limit, n, want)
		}
	}
	seen := 0
	for range store.Entries(t.Context(), s, store.Query{}) {
		if seen++; seen == 1500 {
			break
		}
	}
	if seen != 1500 {
		t.Errorf("saw %d", seen)
	}
	_ = s.Close()
	for _, err := range store.Entries(t.Context(), s, store.Query{}) {
		if measure.KindOf(err) != measure.KindStore {
			t.Errorf("of a closed store: %v", err)
		}
	}
}
