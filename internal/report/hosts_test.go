package report

import (
	"slices"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/text"
)

func TestHostsThatChangeShowBothValues(t *testing.T) {
	in := fourPatterns().input()
	in.Results[3].Hosts.Client.Facts.MTU = 9000
	for _, h := range build(t, in).Hosts {
		for _, f := range h.Facts {
			if f.Key == "fact.mtu" && (h.Name == "office") != (len(f.Values) == 2) {
				t.Errorf("%s: MTU %v", h.Name, f.Values)
			}
		}
	}
}

func TestAHostShowsItsOwnLimitsWhereTheyAreKept(t *testing.T) {
	in := fourPatterns().input()
	for _, r := range in.Results {
		r.Hosts.Client.Floor = &measure.HostFloor{
			MeasuredAt: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
			RoundTrips: []measure.FloorRoundTrip{{RTT: measure.Percentiles{P50: 21_000}}, {RTT: measure.Percentiles{P50: 12_000}}},
			Goodput:    []measure.FloorGoodput{{GoodputBps: 20e9}, {GoodputBps: 41e9}},
			Packets:    []measure.FloorPackets{{PacketsPerSecond: 412_345}},
		}
	}
	found := map[string][]string{}
	for _, h := range build(t, in).Hosts {
		for _, f := range h.Facts {
			if f.Key == "fact.own_limits" {
				found[h.Name] = factValues(text.English(), f)
			}
		}
	}
	want := []string{"41.00 Gbit/s, 412k packets/s, 12.00 µs round trip, on 2026-03-01"}
	if len(found) != 1 || !slices.Equal(found["office"], want) {
		t.Errorf("%v, want %v for the client only", found, want)
	}
}
