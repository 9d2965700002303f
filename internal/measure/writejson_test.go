package measure

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
)

func TestAResultIsWrittenAsItIsMarshalledWithFewerCopies(t *testing.T) {
	r := &Result{Schema: Schema, Test: TestTCP, Flows: []Flow{{Streams: []Stream{{Samples: make([]Sample, 20_000)}}}}}
	for i := range r.Flows[0].Streams[0].Samples {
		r.Flows[0].Streams[0].Samples[i] = Sample{StartNs: int64(i) * 1e8, TCP: &TCPInfo{Congestion: "<cubic>", RTTNs: int64(i)}}
	}
	for name, unknown := range map[string]*unknownMembers{"known": nil, "unknown": {members: map[string]json.RawMessage{"later": json.RawMessage("1")}}} {
		r.unknown = unknown
		var want, got strings.Builder
		if err := json.NewEncoder(&want).Encode(r); err != nil {
			t.Fatal(err)
		}
		if err := r.WriteJSON(&got); err != nil || got.String() != want.String() {
			t.Errorf("%s: error %v, %d bytes, want %d", name, err, got.Len(), want.Len())
		}
	}
	r.unknown = nil
	before := allocatedBy(func() { _ = json.NewEncoder(new(strings.Builder)).Encode(r) })
	if now := allocatedBy(func() { _ = r.WriteJSON(new(strings.Builder)) }); now > before*3/4 {
		t.Errorf("%d bytes allocated; %d with MarshalJSON", now, before)
	}
}

func TestASeriesIsWrittenAsItWasRead(t *testing.T) {
	const one, spaced, place = `{"at_ns":[0,5],"columns":{"a":[1]}}`, `{"at_ns": [0, 5], "columns": {"a<": [1]}}`, `-0e9`
	for _, c := range [][2]string{{one, one}, {one, ""}, {"", one}, {spaced, one}, {one, spaced}, {place, one}, {`{"series":-0e9}`, one}, {"", ""}} {
		r := &Result{Schema: Schema, Test: TestTCP, Hosts: Hosts{Client: &Host{}, Server: &Host{Facts: Facts{Hostname: `"series":-0e9`}}}}
		for i, h := range []*Host{r.Hosts.Client, r.Hosts.Server} {
			if c[i] != "" {
				h.Series = &Series{raw: json.RawMessage(c[i])}
			}
		}
		var want, got strings.Builder
		if err := json.NewEncoder(&want).Encode(r); err != nil {
			t.Fatal(err)
		}
		if err := r.WriteJSON(&got); err != nil || got.String() != want.String() {
			t.Errorf("%q: %v\n%s\nwant\n%s", c, err, got.String(), want.String())
		}
		for i, h := range []*Host{r.Hosts.Client, r.Hosts.Server} {
			if h.Series != nil && string(h.Series.raw) != c[i] {
				t.Errorf("%q: the result has %s", c, h.Series.raw)
			}
		}
	}
}

// allocatedBy is how many bytes f allocates without what earlier calls left in pools.
func allocatedBy(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
