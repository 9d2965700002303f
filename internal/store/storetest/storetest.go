// Package storetest is the conformance suite of [store.Store]: what its
// comments promise, as tests. Every implementation runs it.
package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/store"
)

// Run tests the stores that open makes. Each call of open returns a new, empty
// store; the suite closes it.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for name, test := range map[string]func(*testing.T, store.Store){
		"keeps a document whole":                  documentWhole,
		"keeps members it does not know":          unknownMembers,
		"putting an ID twice changes nothing":     putTwice,
		"finds by ID, prefix and last":            getByIdentity,
		"says which results are missing":          missing,
		"refuses a result without an ID":          noIdentity,
		"lists the newest first and selects":      list,
		"summarises failures in the list":         listFailure,
		"replaces a campaign":                     campaignReplaced,
		"finds campaigns by ID, name, prefix":     campaignByIdentity,
		"keeps a campaign whole":                  campaignWhole,
		"orders a campaign's results":             campaignResults,
		"serves many goroutines":                  concurrent,
		"ends with its context":                   canceled,
		"says that it is closed":                  closed,
		"an empty store is empty and no failure":  empty,
		"an identity is text, never a pattern":    identityIsText,
		"a time before 1970 and one far off hold": oddTimes,
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			t.Cleanup(func() { _ = s.Close() })
			test(t, s)
		})
	}
}

// Result is a result with something in most of its parts, started n seconds
// after a fixed moment.
func Result(id string, n int) *measure.Result {
	h := measure.NewHistogram()
	for i := range 100 {
		h.Record(int64(48_000 + i*100))
	}
	retransmits, loss := int64(3), 0.01
	return &measure.Result{
		Schema: measure.Schema, ID: id, Test: measure.TestTCP, Tool: measure.Tool{Name: "soku", Version: "1"},
		StartedAt: time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.UTC).Add(time.Duration(n) * time.Second),
		Path: measure.Path{
			Client:    measure.Endpoint{Name: "onprem", Address: "10.0.0.1"},
			Server:    measure.Endpoint{Name: "vm", Address: "10.1.0.2", Label: "vlan"},
			Direction: measure.Forward,
		},
		Options: measure.Defaults(measure.TestTCP),
		Summary: measure.Summary{GoodputBps: 941.5e6, Retransmits: &retransmits, LossRatio: &loss},
		Flows: []measure.Flow{{
			Direction: measure.Forward,
			Streams:   []measure.Stream{{Index: 0, SentBytes: 10, ReceivedBytes: 9}},
			Samples:   []measure.Sample{{StartNs: 0, EndNs: 100_000_000, ReceivedBytes: 9}},
		}},
		Latency:  &measure.Latency{Method: "closed loop", Histogram: h, Sent: 100, Received: 100},
		Findings: measure.Findings{measure.TextFinding("日本語 \u0000 and \"quotes\"")},
	}
}

func put(t *testing.T, s store.Store, results ...*measure.Result) {
	t.Helper()
	for _, r := range results {
		if err := s.Put(t.Context(), r); err != nil {
			t.Fatalf("Put(%s): %v", r.ID, err)
		}
	}
}

func wantKind(t *testing.T, err error, kind measure.Kind) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want kind %s", kind)
	}
	if got := measure.KindOf(err); got != kind {
		t.Fatalf("error %q has kind %s, want %s", err, got, kind)
	}
}

func document(t *testing.T, r *measure.Result) string {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func documentWhole(t *testing.T, s store.Store) {
	r := inCampaign(Result("0001aaaa", 0), "c1", "ultra", 2, 5, 1)
	put(t, s, r)
	got, err := s.Get(t.Context(), r.ID)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := document(t, r), document(t, got); a != b {
		t.Errorf("stored\n%s\ncame back as\n%s", a, b)
	}
}

func unknownMembers(t *testing.T, s store.Store) {
	text := `{"schema":"soku.result/1","id":"0002bbbb","tool":{"name":"soku","version":"9","built":"later"},"test":"quic",
		"started_at":"2031-01-01T00:00:00Z","path":{"client":{},"server":{},"direction":"forward"},"options":{},
		"summary":{"duration_ns":1},"hosts":{},"verdict":{"limited_by":"cpu","big":12345678901234567890}}`
	var r measure.Result
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	put(t, s, &r)
	got, err := s.Get(t.Context(), r.ID)
	if err != nil {
		t.Fatal(err)
	}
	var members struct {
		Tool    struct{ Built string }
		Verdict json.RawMessage
	}
	if err := json.Unmarshal([]byte(document(t, got)), &members); err != nil {
		t.Fatal(err)
	}
	if members.Tool.Built != "later" || string(members.Verdict) != `{"limited_by":"cpu","big":12345678901234567890}` {
		t.Errorf("unknown members came back as %q and %s", members.Tool.Built, members.Verdict)
	}
}

func putTwice(t *testing.T, s store.Store) {
	r := Result("0003cccc", 0)
	put(t, s, r, r)
	other := Result("0003cccc", 9)
	other.Summary.GoodputBps = 1
	put(t, s, other)
	got, err := s.Get(t.Context(), r.ID)
	if err != nil {
		t.Fatal(err)
	}
	if document(t, got) != document(t, r) {
		t.Error("a stored result was changed")
	}
	entries, err := s.List(t.Context(), store.Query{})
	if err != nil || len(entries) != 1 {
		t.Errorf("%d entries (%v), want 1", len(entries), err)
	}
}

func getByIdentity(t *testing.T, s store.Store) {
	put(t, s, Result("abcd0001", 5), Result("abcd0002", 9), Result("beef0001", 1), Result("beef", 2))
	for ask, want := range map[string]string{
		"abcd0001": "abcd0001", "abcd0002": "abcd0002", "beef0": "beef0001", "last": "abcd0002",
		"beef": "beef", // a full identity wins over an abbreviation
	} {
		got, err := s.Get(t.Context(), ask)
		if err != nil {
			t.Errorf("Get(%s): %v", ask, err)
		} else if got.ID != want {
			t.Errorf("Get(%s) = %s, want %s", ask, got.ID, want)
		}
	}
	_, err := s.Get(t.Context(), "abcd")
	wantKind(t, err, measure.KindUsage)
	for _, ask := range []string{"abce", "bee", "", "abcd00011"} {
		_, err := s.Get(t.Context(), ask)
		wantKind(t, err, measure.KindNotFound)
	}
}

func identityIsText(t *testing.T, s store.Store) {
	put(t, s, Result("abcd0001", 1))
	for _, ask := range []string{"%%%%", "abc_", "____", "ab*d", "' OR 1=1 --", "abcd%"} {
		_, err := s.Get(t.Context(), ask)
		wantKind(t, err, measure.KindNotFound)
	}
	odd := Result("we'ird%id\"_", 2)
	put(t, s, odd)
	if got, err := s.Get(t.Context(), "we'ird%"); err != nil || got.ID != odd.ID {
		t.Errorf("an odd identity was not found: %v", err)
	}
	put(t, s, Result("測定-日本", 3))
	if got, err := s.Get(t.Context(), "測定-"); err != nil || got.ID != "測定-日本" {
		t.Errorf("an identity in other letters was not found: %v", err)
	}
}

func missing(t *testing.T, s store.Store) {
	put(t, s, Result("a", 1), Result("we'ird%", 2), Result("測定", 3))
	for _, c := range []struct{ ask, want []string }{
		{nil, nil},
		{[]string{"a", "測定", "we'ird%"}, nil},
		{[]string{"z", "a", "we'ird_", "A", "aa", "", "b"}, []string{"z", "we'ird_", "A", "aa", "", "b"}},
	} {
		got, err := s.Missing(t.Context(), c.ask)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("Missing(%q) = %q (%v), want %q", c.ask, got, err, c.want)
		}
	}
	many := make([]string, 25_000) // more than fit into one statement
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	many[20_000] = "a"
	got, err := s.Missing(t.Context(), many)
	if err != nil || !slices.Equal(got, slices.Delete(slices.Clone(many), 20_000, 20_001)) {
		t.Errorf("of %d identities %d are missing (%v)", len(many), len(got), err)
	}
}

func noIdentity(t *testing.T, s store.Store) {
	wantKind(t, s.Put(t.Context(), Result("", 0)), measure.KindUsage)
	wantKind(t, s.PutCampaign(t.Context(), store.Campaign{Name: "x"}), measure.KindUsage)
}

func list(t *testing.T, s store.Store) {
	ping := Result("p1", 2)
	ping.Test, ping.Summary.RTT = measure.TestPing, &measure.Percentiles{P50: 48_210, P99: 61_000}
	put(t, s, Result("t1", 1), ping, inCampaign(Result("t3", 3), "c1", "ultra", 1, 1, 1), Result("t0", 0))
	for want, q := range map[string]store.Query{
		"t3 p1 t1 t0": {},
		"t3 p1":       {Limit: 2},
		"p1":          {Test: measure.TestPing},
		"t3":          {Campaign: "c1"},
		"":            {Campaign: "c1", Test: measure.TestPing},
		"t3 t1 t0":    {Test: measure.TestTCP, Limit: 9},
	} {
		entries, err := s.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for i, e := range entries {
			if i > 0 {
				got += " "
			}
			got += e.ID
		}
		if got != want {
			t.Errorf("List(%+v) = %q, want %q", q, got, want)
		}
	}
	entries, err := s.List(t.Context(), store.Query{Campaign: "c1"})
	if err != nil {
		t.Fatal(err)
	}
	want := store.Entry{ID: "t3", StartedAt: Result("", 3).StartedAt, Test: measure.TestTCP, Client: "onprem", Server: "vm.vlan",
		Campaign: "c1", Pattern: "ultra", Headline: "941.5 Mbit/s, 1 % lost"}
	if entries[0] != want {
		t.Errorf("entry is %+v, want %+v", entries[0], want)
	}
}

func listFailure(t *testing.T, s store.Store) {
	r := Result("f1", 1)
	r.Error = measure.Errorf(measure.KindUnreachable, "connect 10.0.0.4:7658: refused")
	put(t, s, r)
	entries, err := s.List(t.Context(), store.Query{})
	if err != nil {
		t.Fatal(err)
	}
	if e := entries[0]; e.Error != "connect 10.0.0.4:7658: refused" || e.Headline != "failed: unreachable" {
		t.Errorf("entry is %+v", e)
	}
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
				if _, err := s.List(t.Context(), store.Query{Limit: 3}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if entries, err := s.List(t.Context(), store.Query{}); err != nil || len(entries) != writers*each {
		t.Errorf("%d entries (%v), want %d", len(entries), err, writers*each)
	}
}

func canceled(t *testing.T, s store.Store) {
	put(t, s, Result("before", 1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantKind(t, s.Put(ctx, Result("after", 1)), measure.KindInterrupted)
	_, err := s.Get(ctx, "before")
	wantKind(t, err, measure.KindInterrupted)
	if _, err := s.Get(t.Context(), "before"); err != nil {
		t.Errorf("the store does not go on after a canceled call: %v", err)
	}
	_, err = s.Get(t.Context(), "after")
	wantKind(t, err, measure.KindNotFound)
}

func closed(t *testing.T, s store.Store) {
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("the second Close: %v", err)
	}
	wantKind(t, s.Put(t.Context(), Result("late", 1)), measure.KindStore)
	_, err := s.Campaigns(t.Context())
	wantKind(t, err, measure.KindStore)
}

func empty(t *testing.T, s store.Store) {
	_, err := s.Get(t.Context(), "last")
	wantKind(t, err, measure.KindNotFound)
	_, err = s.Campaign(t.Context(), "last")
	wantKind(t, err, measure.KindNotFound)
	entries, err := s.List(t.Context(), store.Query{})
	if err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
	campaigns, err := s.Campaigns(t.Context())
	if err != nil || len(campaigns) != 0 {
		t.Errorf("%v, %v", campaigns, err)
	}
}

func oddTimes(t *testing.T, s store.Store) {
	for i, when := range []time.Time{{}, time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC), time.Date(2200, 1, 1, 0, 0, 0, 5, time.UTC)} {
		r := Result(fmt.Sprintf("time%d", i), 0)
		r.StartedAt = when
		put(t, s, r)
		entries, err := s.List(t.Context(), store.Query{})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, e := range entries {
			found = found || e.ID == r.ID && e.StartedAt.Equal(when)
		}
		if !found {
			t.Errorf("a start at %s does not come back: %+v", when, entries)
		}
	}
}
