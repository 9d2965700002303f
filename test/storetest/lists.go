package storetest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/store"
)

var lists = map[string]func(*testing.T, store.Store){
	"lists the newest first and selects":      list,
	"finds by campaign and test":              listCampaign,
	"finds by endpoint":                       listEndpoint,
	"finds by levels":                         listLevels,
	"finds by time":                           listTime,
	"finds by how an identity begins":         listPrefix,
	"pages by a cursor":                       listPages,
	"pages while results are added":           listPagesMeanwhile,
	"refuses what is no page":                 listNoPage,
	"an entry has names and figures":          listEntry,
	"an entry of a failure has its kind":      listFailure,
	"a time before 1970 and one far off hold": oddTimes,
}

// wantList fails the test unless the query selects these identities, in order,
// however they are read.
func wantList(t *testing.T, s store.Store, q store.Query, want ...string) {
	t.Helper()
	page, err := s.List(t.Context(), q)
	if err != nil {
		t.Fatalf("List(%+v): %v", q, err)
	}
	listed, streamed := []string{}, []string{}
	for _, e := range page.Items {
		listed = append(listed, e.ID)
	}
	for _, r := range stream(t, s, q, store.Outline) {
		streamed = append(streamed, r.ID)
	}
	if a, b := strings.Join(listed, " "), strings.Join(want, " "); a != b {
		t.Errorf("List(%+v) = %s, want %s", q, a, b)
	}
	if a, b := strings.Join(streamed, " "), strings.Join(want, " "); a != b {
		t.Errorf("Results(%+v) = %s, want %s", q, a, b)
	}
	n, err := s.Count(t.Context(), q)
	if whole := q.Limit == 0 && q.After == ""; err != nil || whole && n != len(want) || n < len(want) {
		t.Errorf("Count(%+v) = %d (%v), want %d", q, n, err, len(want))
	}
}

func list(t *testing.T, s store.Store) {
	put(t, s, Result("b", 1), Result("c", 2), Result("d", 0), Result("a", 1))
	wantList(t, s, store.Query{}, "c", "b", "a", "d") // of one time: by identity
	wantList(t, s, store.Query{OldestFirst: true}, "d", "a", "b", "c")
	wantList(t, s, store.Query{Limit: 2}, "c", "b")
	wantList(t, s, store.Query{Limit: 4}, "c", "b", "a", "d")
	wantList(t, s, store.Query{OldestFirst: true, Limit: 1}, "d")
}

func listCampaign(t *testing.T, s store.Store) {
	ping := inCampaign(Result("c-ping", 4), "c1", "a", 1, 2)
	ping.Test = measure.TestPing
	alone := Result("ping", 5)
	alone.Test = measure.TestPing
	put(t, s, inCampaign(Result("c-tcp", 6), "c1", "a", 2, 1), ping, alone, Result("tcp", 3), inCampaign(Result("other", 2), "c11", "a", 1, 1))
	wantList(t, s, store.Query{Campaign: "c1"}, "c-tcp", "c-ping")
	wantList(t, s, store.Query{Campaign: "c1", OldestFirst: true}, "c-ping", "c-tcp")
	wantList(t, s, store.Query{Campaign: "c1", Test: measure.TestPing}, "c-ping")
	wantList(t, s, store.Query{Test: measure.TestPing}, "ping", "c-ping")
	wantList(t, s, store.Query{ByHand: true}, "ping", "tcp")
	wantList(t, s, store.Query{ByHand: true, Test: measure.TestTCP}, "tcp")
	for _, none := range []store.Query{{Campaign: "c"}, {Campaign: "c1", ByHand: true}, {Test: "quic"}, {Campaign: "c11", Test: measure.TestPing}} {
		wantList(t, s, none)
	}
}

func listEndpoint(t *testing.T, s store.Store) {
	back := Result("back", 2)
	back.Path.Client, back.Path.Server = back.Path.Server, back.Path.Client
	own := Result("own", 3)
	own.Path.Client = own.Path.Server
	other := Result("other", 4)
	other.Path.Server = measure.Endpoint{Address: "2001:db8::1"}
	put(t, s, Result("there", 1), back, own, other)
	for name, want := range map[string]string{
		"vm": "own back there", "vm.vlan": "own back there", "10.1.0.2": "own back there",
		"onprem": "other back there", "2001:db8::1": "other",
		"v": "", "vlan": "", "VM": "", "10.1.0": "", "vm%": "",
	} {
		wantList(t, s, store.Query{Endpoint: name}, strings.Fields(want)...)
	}
	wantList(t, s, store.Query{Endpoint: "vm", OldestFirst: true, Limit: 2}, "there", "back")
	wantList(t, s, store.Query{Endpoint: "vm", Test: measure.TestPing})
}

func listLevels(t *testing.T, s store.Store) {
	trial := func(id string, n int, campaign string, levels ...string) *measure.Result {
		r := inCampaign(Result(id, n), campaign, id, 1, 1)
		r.Trial.Levels = nil
		for i := 0; i < len(levels); i += 2 {
			r.Trial.Levels = append(r.Trial.Levels, measure.Level{Factor: levels[i], Value: levels[i+1]})
		}
		return r
	}
	put(t, s, trial("a", 1, "c1", "sku", "ultra", "zone", "1"), trial("b", 2, "c1", "sku", "ultra", "zone", "2"),
		trial("c", 3, "c2", "sku", "high", "zone", "1"), trial("d", 4, "c2", "zone", "ultra", "sku", "1 / 2"), Result("by hand", 5))
	level := func(levels ...string) (out []measure.Level) {
		for i := 0; i < len(levels); i += 2 {
			out = append(out, measure.Level{Factor: levels[i], Value: levels[i+1]})
		}
		return out
	}
	wantList(t, s, store.Query{Levels: level("sku", "ultra")}, "b", "a")
	wantList(t, s, store.Query{Levels: level("sku", "ultra"), OldestFirst: true, Limit: 1}, "a")
	wantList(t, s, store.Query{Levels: level("zone", "1", "sku", "ultra")}, "a")
	wantList(t, s, store.Query{Levels: level("zone", "1"), Campaign: "c2"}, "c")
	wantList(t, s, store.Query{Levels: level("sku", "1 / 2")}, "d")
	wantList(t, s, store.Query{Levels: level("sku", "ultra", "zone", "2"), Endpoint: "vm"}, "b")
	wantList(t, s, store.Query{Levels: level("sku", "ultra", "sku", "high")})
	wantList(t, s, store.Query{Levels: level("", "")})
}

func listTime(t *testing.T, s store.Store) {
	for i := range 5 {
		put(t, s, inCampaign(Result(fmt.Sprint(i), i), "c1", "a", 1, i+1))
	}
	wantList(t, s, store.Query{Since: at(3)}, "4", "3")
	wantList(t, s, store.Query{Until: at(2)}, "1", "0")
	wantList(t, s, store.Query{Since: at(1), Until: at(4), OldestFirst: true}, "1", "2", "3")
	wantList(t, s, store.Query{Since: at(1), Until: at(4), Endpoint: "vm", Limit: 1}, "3")
	wantList(t, s, store.Query{Since: at(4), Until: at(4)})
	wantList(t, s, store.Query{Since: at(3).In(time.FixedZone("", 9*3600)), Levels: []measure.Level{{Factor: "sku", Value: "a"}}}, "4", "3")
}

func listPrefix(t *testing.T, s store.Store) {
	put(t, s, Result("abcd1", 1), Result("abcd2", 3), Result("abce", 2), Result("we'ird%", 4), Result("測定-日本", 5))
	wantList(t, s, store.Query{IDPrefix: "abcd"}, "abcd2", "abcd1")
	wantList(t, s, store.Query{IDPrefix: "abcd", Limit: 1}, "abcd2")
	wantList(t, s, store.Query{IDPrefix: "ab", OldestFirst: true}, "abcd1", "abce", "abcd2")
	wantList(t, s, store.Query{IDPrefix: "we'ird%"}, "we'ird%")
	wantList(t, s, store.Query{IDPrefix: "測"}, "測定-日本")
	for _, none := range []string{"abc_", "%", "ABCD", "abcd11", "'"} {
		wantList(t, s, store.Query{IDPrefix: none})
	}
}

// pages reads a list page by page and returns its identities.
func pages(t *testing.T, s store.Store, q store.Query) (ids []string, pages int) {
	t.Helper()
	for {
		page, err := s.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		pages++
		for _, e := range page.Items {
			ids = append(ids, e.ID)
		}
		if page.Next == "" {
			return ids, pages
		}
		if len(page.Items) != q.Limit || pages > 1000 {
			t.Fatalf("page %d has %d items of %d and is not the last", pages, len(page.Items), q.Limit)
		}
		q.After = page.Next
	}
}

func listPages(t *testing.T, s store.Store) {
	for i := range 21 {
		put(t, s, inCampaign(Result(fmt.Sprintf("測%02d", i), i/3), "c1", "a", 1, i+1)) // three at a time
	}
	put(t, s, Result("by hand", 2))
	for _, q := range []store.Query{
		{Campaign: "c1"}, {Campaign: "c1", OldestFirst: true}, {Levels: []measure.Level{{Factor: "sku", Value: "a"}}},
		{Endpoint: "onprem", Campaign: "c1", OldestFirst: true}, {IDPrefix: "測"},
	} {
		whole, n := pages(t, s, q)
		if n != 1 || len(whole) != 21 {
			t.Errorf("without a limit %+v has %d pages with %d results", q, n, len(whole))
		}
		for limit, want := range map[int]int{1: 21, 4: 6, 7: 3, 20: 2, 21: 1, 100: 1} {
			q.Limit = limit
			got, n := pages(t, s, q)
			if n != want || strings.Join(got, " ") != strings.Join(whole, " ") {
				t.Errorf("%+v has %d pages, want %d: %v", q, n, want, got)
			}
		}
	}
	page, err := s.List(t.Context(), store.Query{Campaign: "c1", Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	if got := stream(t, s, store.Query{Campaign: "c1", After: page.Next, Limit: 1}, store.Whole); len(got) != 1 || got[0].ID != "測15" {
		t.Errorf("the stream does not go on behind the page: %v", got)
	}
	if n, err := s.Count(t.Context(), store.Query{Campaign: "c1", After: page.Next, Limit: 1}); err != nil || n != 21 {
		t.Errorf("a place in the list changes the count to %d (%v)", n, err)
	}
}

func listPagesMeanwhile(t *testing.T, s store.Store) {
	put(t, s, Result("1", 1), Result("3", 3), Result("5", 5))
	first, err := s.List(t.Context(), store.Query{Limit: 2})
	if err != nil || first.Next == "" {
		t.Fatal(err)
	}
	put(t, s, Result("4", 4), Result("6", 6), Result("2", 2), Result("0", 0))
	wantList(t, s, store.Query{After: first.Next}, "2", "1", "0")
}

func listNoPage(t *testing.T, s store.Store) {
	put(t, s, Result("a", 1))
	for _, q := range []store.Query{{Limit: -1}, {After: "%"}, {After: "YQ"}, {After: "YSBi!"}, {After: store.Cursor("!")}} {
		_, err := s.List(t.Context(), q)
		wantKind(t, err, measure.KindUsage)
		_, err = s.Campaigns(t.Context(), store.CampaignQuery{Limit: q.Limit, After: q.After})
		wantKind(t, err, measure.KindUsage)
	}
}

func listEntry(t *testing.T, s store.Store) {
	r := inCampaign(Result("t3", 3), "c1", "ultra", 2, 5)
	r.Test, r.Options.Streams, r.Options.Via = measure.TestUDP, 8, option.ViaSoku
	put(t, s, r)
	page, err := s.List(t.Context(), store.Query{})
	if err != nil {
		t.Fatal(err)
	}
	want := store.Entry{ID: "t3", StartedAt: at(3), Test: measure.TestUDP, Client: "onprem", Server: "vm.vlan",
		Direction: measure.Forward, Via: "soku", Streams: 8, Campaign: "c1", Pattern: "ultra", Label: "throughput", Round: 2, Order: 5, Repeat: 1}
	figures := page.Items[0].Figures
	page.Items[0].Figures = nil
	if !reflect.DeepEqual(page.Items[0], want) {
		t.Errorf("entry is %+v, want %+v", page.Items[0], want)
	}
	if figures["goodput_bps"] != 941.5e6 || figures["loss_ratio"] != 0.01 {
		t.Errorf("figures are %v", figures)
	}
	if _, found := figures["rtt_p50_ns"]; found {
		t.Errorf("a figure that the result does not have is among %v", figures)
	}
}

func listFailure(t *testing.T, s store.Store) {
	r := Result("f1", 1)
	r.Error = measure.TextError(measure.KindUnreachable, "connect 10.0.0.4:7658: refused", "")
	put(t, s, r)
	page, err := s.List(t.Context(), store.Query{})
	if err != nil {
		t.Fatal(err)
	}
	if e := page.Items[0]; e.Error != "connect 10.0.0.4:7658: refused" || e.ErrorKind != measure.KindUnreachable {
		t.Errorf("entry is %+v", e)
	}
}

func oddTimes(t *testing.T, s store.Store) {
	times := []time.Time{time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC), {}, time.Date(2200, 1, 1, 0, 0, 0, 5, time.UTC)}
	for i, when := range times {
		r := Result(fmt.Sprintf("time%d", i), 0)
		r.StartedAt = when
		put(t, s, r)
	}
	page, err := s.List(t.Context(), store.Query{OldestFirst: true})
	if err != nil || len(page.Items) != len(times) {
		t.Fatalf("%d entries (%v)", len(page.Items), err)
	}
	for i, e := range page.Items {
		if e.ID != fmt.Sprintf("time%d", i) || !e.StartedAt.Equal(times[i]) {
			t.Errorf("a start at %s came back as %s of %s", times[i], e.StartedAt, e.ID)
		}
	}
	ids, _ := pages(t, s, store.Query{Limit: 1})
	if strings.Join(ids, " ") != "time2 time1 time0" {
		t.Errorf("page by page they are %v", ids)
	}
}
