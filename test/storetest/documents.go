package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/store"
)

var documents = map[string]func(*testing.T, store.Store){
	"keeps a document whole":              documentWhole,
	"keeps members it does not know":      unknownMembers,
	"an ID twice changes nothing":         putTwice,
	"finds the ID and nothing like it":    exactIdentity,
	"refuses a result without an ID":      noIdentity,
	"says which results are missing":      missing,
	"deletes results, and nothing else":   deleted,
	"deletes many results":                deletedMany,
	"deletes a campaign with its results": deletedCampaign,
	"puts several results, or none":       putSeveral,
	"streams whole documents":             streamWhole,
	"streams outlines":                    streamOutlines,
	"a stream ends where its loop does":   streamStopped,
	"a stream lets others work":           streamShared,
	"a stream ends with an error":         streamFails,
}

func documentWhole(t *testing.T, s store.Store) {
	r := inCampaign(Result("0001aaaa", 0), "c1", "ultra", 2, 5)
	put(t, s, r)
	got, err := s.Get(t.Context(), r.ID)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := document(t, r), document(t, got); a != b {
		t.Errorf("stored\n%s\ncame back as\n%s", a, b)
	}
	got.Summary.GoodputBps = 1 // must not change the stored one
	if again, err := s.Get(t.Context(), r.ID); err != nil || document(t, again) != document(t, r) {
		t.Errorf("a stored result was changed through one that was read (%v)", err)
	}
}

func unknownMembers(t *testing.T, s store.Store) {
	text := `{"schema":"soku.result/1","id":"0002bbbb","tool":{"name":"soku","version":"9","built":"later"},"test":"quic",
		"started_at":"2031-01-01T00:00:00Z","path":{"client":{},"server":{},"direction":"forward"},"options":{},
		"summary":{"duration_ns":1},"hosts":{},"forecast":{"changes_at":"night","big":12345678901234567890}}`
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
		Tool     struct{ Built string }
		Forecast json.RawMessage
	}
	if err := json.Unmarshal([]byte(document(t, got)), &members); err != nil {
		t.Fatal(err)
	}
	if members.Tool.Built != "later" || string(members.Forecast) != `{"changes_at":"night","big":12345678901234567890}` {
		t.Errorf("unknown members came back as %q and %s", members.Tool.Built, members.Forecast)
	}
}

func putTwice(t *testing.T, s store.Store) {
	r := Result("0003cccc", 0)
	put(t, s, r, r)
	other := inCampaign(Result("0003cccc", 9), "c1", "ultra", 1, 1)
	other.Summary.GoodputBps, other.Path.Server.Name = 1, "elsewhere"
	if err := s.Put(t.Context(), Result("0003dddd", 1), other); !store.IsConflict(err) || measure.KindOf(err) != measure.KindRefused || !strings.Contains(err.Error(), "0003cccc") {
		t.Errorf("another document of the same ID: %v", err)
	}
	if err := s.Put(t.Context(), Result("0003eeee", 1), Result("0003eeee", 2)); !store.IsConflict(err) {
		t.Errorf("two documents of one ID: %v", err)
	}
	got, err := s.Get(t.Context(), r.ID)
	if err != nil {
		t.Fatal(err)
	}
	if document(t, got) != document(t, r) {
		t.Error("a stored result was changed")
	}
	wantCount(t, s, 1)
	for _, q := range []store.Query{{Campaign: "c1"}, {Endpoint: "elsewhere"}, {Levels: []measure.Level{{Factor: "sku", Value: "ultra"}}}} {
		wantList(t, s, q)
	}
}

func exactIdentity(t *testing.T, s store.Store) {
	put(t, s, Result("abcd0001", 5), Result("we'ird%id\"_", 2), Result("測定-日本", 3))
	for _, id := range []string{"abcd0001", "we'ird%id\"_", "測定-日本"} {
		if got, err := s.Get(t.Context(), id); err != nil || got.ID != id {
			t.Errorf("Get(%s): %v", id, err)
		}
	}
	for _, ask := range []string{"", "last", "abcd", "abcd000", "abcd00011", "ABCD0001", "abcd000_", "abcd%", "測定-", "' OR 1=1 --"} {
		_, err := s.Get(t.Context(), ask)
		wantKind(t, err, measure.KindNotFound)
		if e := measure.AsError(err, ""); !strings.Contains(e.Message, fmt.Sprintf("%q", ask)) || !strings.Contains(e.Message, s.Name()) || e.Hint == "" {
			t.Errorf("Get(%q): %v", ask, err)
		}
	}
}

func noIdentity(t *testing.T, s store.Store) {
	wantKind(t, s.Put(t.Context(), Result("", 0)), measure.KindUsage)
	wantKind(t, s.Put(t.Context(), nil), measure.KindUsage)
	wantKind(t, s.PutCampaign(t.Context(), store.Campaign{Name: "x"}), measure.KindUsage)
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

// stream reads results and fails the test on an error.
func stream(t *testing.T, s store.Store, q store.Query, detail store.Detail) (out []*measure.Result) {
	t.Helper()
	for r, err := range s.Results(t.Context(), q, detail) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func streamWhole(t *testing.T, s store.Store) {
	want := map[string]*measure.Result{}
	for i := range 40 {
		r := inCampaign(Result(fmt.Sprintf("r%02d", i), i), "c1", "a", 1, i+1)
		want[r.ID] = r
		put(t, s, r)
	}
	put(t, s, Result("by hand", 7))
	got := stream(t, s, store.Query{Campaign: "c1", OldestFirst: true}, store.Whole)
	if len(got) != len(want) {
		t.Fatalf("%d results, want %d", len(got), len(want))
	}
	for i, r := range got {
		if r.ID != fmt.Sprintf("r%02d", i) || document(t, r) != document(t, want[r.ID]) {
			t.Errorf("result %d is %s, or not whole", i, r.ID)
		}
	}
	if got := stream(t, s, store.Query{Campaign: "c1", Limit: 3}, store.Whole); len(got) != 3 || got[0].ID != "r39" {
		t.Errorf("the last three are %d", len(got))
	}
}

func streamOutlines(t *testing.T, s store.Store) {
	r := inCampaign(Result("r1", 1), "c1", "a", 1, 1)
	r.UnderLoad = &measure.UnderLoad{Before: r.Latency}
	r.Latency.Rows = []measure.LatencyRow{{}, {}}
	r.Trace = &measure.Trace{Hops: []measure.TraceHop{{Hop: 1}}}
	put(t, s, r)
	got := stream(t, s, store.Query{}, store.Outline)
	if len(got) != 1 {
		t.Fatalf("%d results, want 1", len(got))
	}
	r.Latency.Rows = nil
	if a, b := document(t, r), document(t, stream(t, s, store.Query{}, store.WithoutRows)[0]); a != b {
		t.Errorf("without rows\n%s\nis\n%s", a, b)
	}
	r.Flows, r.Latency, r.UnderLoad = nil, nil, nil
	if a, b := document(t, r), document(t, got[0]); a != b {
		t.Errorf("the outline of\n%s\nis\n%s", a, b)
	}
}

func streamStopped(t *testing.T, s store.Store) {
	for i := range 20 {
		put(t, s, Result(fmt.Sprint(i), i))
	}
	seen := 0
	for _, err := range s.Results(t.Context(), store.Query{}, store.Whole) {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; seen == 3 {
			break
		}
	}
	if seen != 3 {
		t.Errorf("the loop ran %d times, want 3", seen)
	}
	put(t, s, Result("after", 1)) // nothing is held
}

func streamShared(t *testing.T, s store.Store) {
	for i := range 20 {
		put(t, s, Result(fmt.Sprint(i), i))
	}
	seen := 0
	for r, err := range s.Results(t.Context(), store.Query{Test: measure.TestTCP, Until: at(100)}, store.Whole) {
		if err != nil {
			t.Fatal(err)
		}
		seen++
		put(t, s, Result("of loop "+r.ID, 1000+seen))
		if _, err := s.Get(t.Context(), r.ID); err != nil {
			t.Fatal(err)
		}
	}
	if seen != 20 {
		t.Errorf("the loop ran %d times, want 20", seen)
	}
	wantCount(t, s, 40)
}

func streamFails(t *testing.T, s store.Store) {
	put(t, s, Result("a", 1))
	var last error
	for r, err := range s.Results(t.Context(), store.Query{After: "no place"}, store.Whole) {
		if (r == nil) == (err == nil) || last != nil {
			t.Errorf("the loop got %v and %v after %v", r, err, last)
		}
		last = errors.Join(last, err)
	}
	wantKind(t, last, measure.KindUsage)
}

func putSeveral(t *testing.T, s store.Store) {
	put(t, s, Result("0001aaaa", 0))
	if err := s.Put(t.Context(), Result("0001aaaa", 0), Result("0001aaab", 1), Result("0001aaac", 2)); err != nil {
		t.Fatal(err)
	}
	wantCount(t, s, 3)
	wantKind(t, s.Put(t.Context(), Result("0002aaaa", 3), Result("", 4)), measure.KindUsage)
	wantCount(t, s, 3)
	if err := s.Put(t.Context()); err != nil {
		t.Error(err)
	}
}
