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
