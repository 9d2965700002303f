package storetest

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/store"
)

// Pages of many results.
var pagesOf = map[string]func(*testing.T, store.Store){
	"finds by client and server":         listPair,
	"finds the newest of each pair":      newestOfPairs,
	"a series has figures":               series,
	"deletes what started before a time": deletedBefore,
}

func between(r *measure.Result, client, server string, test measure.Test) *measure.Result {
	r.Path.Client, r.Path.Server, r.Test = measure.Endpoint{Name: client}, measure.Endpoint{Name: server}, test
	return r
}

func listPair(t *testing.T, s store.Store) {
	put(t, s, between(Result("1", 1), "a", "b", measure.TestTCP), between(Result("2", 2), "b", "a", measure.TestTCP), between(Result("3", 3), "a", "b", measure.TestUDP),
		between(Result("4", 4), "a", "c", measure.TestTCP), inCampaign(between(Result("5", 5), "a", "b", measure.TestTCP), "c1", "x", 1, 1), Result("6", 6))
	wantList(t, s, store.Query{Client: "a", Server: "b"}, "5", "3", "1")
	wantList(t, s, store.Query{Client: "a", Server: "b", Test: measure.TestTCP, OldestFirst: true}, "1", "5")
	wantList(t, s, store.Query{Client: "a"}, "5", "4", "3", "1")
	wantList(t, s, store.Query{Server: "a"}, "2")
	wantList(t, s, store.Query{Client: "a", Server: "b", Campaign: "c1", Endpoint: "a"}, "5")
	wantList(t, s, store.Query{Client: "onprem", Server: "vm.vlan"}, "6")
	wantList(t, s, store.Query{Client: "onprem", Server: "vm"})
	if ids, n := pages(t, s, store.Query{Client: "a", Server: "b", Limit: 2}); strings.Join(ids, " ") != "5 3 1" || n != 2 {
		t.Errorf("page by page: %v", ids)
	}
}

// newest is the identities of the newest results of pairs, page by page.
func newest(t *testing.T, s store.Store, q store.PairQuery) string {
	t.Helper()
	var ids []string
	for {
		page, err := s.Newest(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Items {
			ids = append(ids, e.ID)
		}
		if q.After = page.Next; q.After == "" {
			return strings.Join(ids, " ")
		}
		if len(page.Items) != q.Limit || len(ids) > 100 {
			t.Fatalf("a page that is not the last has %d pairs of %d", len(page.Items), q.Limit)
		}
	}
}

func newestOfPairs(t *testing.T, s store.Store) {
	if got := newest(t, s, store.PairQuery{}); got != "" {
		t.Errorf("of no results: %s", got)
	}
	for i := range 10 {
		put(t, s, between(Result(fmt.Sprint("ab", i), i), "a", "b", measure.TestTCP))
	}
	put(t, s, between(Result("ab-udp", 3), "a", "b", measure.TestUDP), between(Result("ba", 1), "b", "a", measure.TestUDP), between(Result("ac", 2), "a", "c", measure.TestTCP),
		between(Result("at-once", 2), "a", "c", measure.TestTCP), between(Result("nameless", 1), "", "", measure.TestTCP), between(Result("kanji", 1), "測", "定", measure.TestUDP))
	for limit := range 5 {
		if got := newest(t, s, store.PairQuery{Limit: limit}); got != "nameless ab9 at-once ba kanji" {
			t.Errorf("%d a page: %s", limit, got)
		}
		if got := newest(t, s, store.PairQuery{Limit: limit, Test: measure.TestUDP}); got != "ab-udp ba kanji" {
			t.Errorf("of one test, %d a page: %s", limit, got)
		}
	}
	for _, q := range []store.PairQuery{{Limit: -1}, {After: "%"}, {After: store.CursorAt(at(1), "x")}} {
		_, err := s.Newest(t.Context(), q)
		wantKind(t, err, measure.KindUsage)
	}
}

func series(t *testing.T, s store.Store) {
	for i := range 5 {
		r := inCampaign(Result(fmt.Sprint("r", i), i), "c1", "a", 1, i+1)
		r.Summary.GoodputBps = float64(i+1) * 1.5e9
		put(t, s, r)
	}
	put(t, s, between(Result("udp", 9), "a", "b", measure.TestUDP))
	q := store.Query{Campaign: "c1", OldestFirst: true, Limit: 3}
	page, err := s.Series(t.Context(), q, "goodput_bps", "no'thing", "retransmits")
	if err != nil || len(page.Items) != 3 || page.Next == "" {
		t.Fatalf("%+v, %v", page, err)
	}
	q.After = page.Next
	rest, err := s.Series(t.Context(), q, "goodput_bps", "no'thing", "retransmits")
	if err != nil || len(rest.Items) != 2 || rest.Next != "" {
		t.Fatalf("%+v, %v", rest, err)
	}
	for i, p := range append(page.Items, rest.Items...) {
		if p.ID != fmt.Sprint("r", i) || !p.StartedAt.Equal(at(i)) || len(p.Values) != 3 || p.Values[0] != float64(i+1)*1.5e9 || !math.IsNaN(p.Values[1]) || p.Values[2] != 3 {
			t.Errorf("point %d is %+v", i, p)
		}
	}
	if page, err := s.Series(t.Context(), store.Query{Client: "a", Server: "b"}); err != nil || len(page.Items) != 1 || len(page.Items[0].Values) != 0 {
		t.Errorf("without a key: %+v, %v", page, err)
	}
	_, err = s.Series(t.Context(), store.Query{After: "%"}, "goodput_bps")
	wantKind(t, err, measure.KindUsage)
}

func deletedBefore(t *testing.T, s store.Store) {
	for i := range 30 {
		put(t, s, inCampaign(Result(fmt.Sprintf("%02d", i), i), "c1", "a", 1, i+1))
	}
	for _, c := range []struct {
		before time.Time
		want   int
	}{{at(0), 0}, {at(27), 27}, {at(27), 0}} {
		if n, err := s.DeleteBefore(t.Context(), c.before); n != c.want || err != nil {
			t.Errorf("before %s: %d, %v, want %d", c.before, n, err, c.want)
		}
	}
	for _, q := range []store.Query{{}, {Endpoint: "vm.vlan"}, {Campaign: "c1"}, {Levels: []measure.Level{{Factor: "sku", Value: "a"}}}} {
		wantList(t, s, q, "29", "28", "27")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.DeleteBefore(ended, at(100))
	wantKind(t, err, measure.KindInterrupted)
	wantCount(t, s, 3)
}
