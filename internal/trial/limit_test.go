package trial

import (
	"testing"
	"time"

	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/measure/finding"
)

var floorAt = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// storedBaseline is that of a host that discards at 40 Gbit/s, reads at 20 Gbit/s and
// receives 500,000 packets per second.
func storedBaseline(measure.Facts) *measure.HostFloor {
	return &measure.HostFloor{
		MeasuredAt: floorAt,
		RoundTrips: []measure.FloorRoundTrip{{Protocol: "tcp", Timing: &measure.Timing{Loop: measure.LoopClosed}, RTT: measure.Percentiles{P50: 20_000}}},
		Goodput:    []measure.FloorGoodput{{RXPath: "discard", GoodputBps: 40e9}, {RXPath: "read", GoodputBps: 20e9}},
		Packets:    []measure.FloorPackets{{RXPath: "batch", PacketsPerSecond: 500_000}},
	}
}

func measured(test measure.Test, f ...measure.Flow) *measure.Result {
	return &measure.Result{Test: test, Flows: f, StartedAt: floorAt.Add(49 * time.Hour), Hosts: measure.Hosts{Client: &measure.Host{}}}
}

func flow(rx string, bps, pps float64) measure.Flow {
	return measure.Flow{RXPath: rx, Summary: measure.Summary{GoodputBps: bps, PacketsPerSecond: pps}}
}

func TestAFigureNearTheHostsOwnLimitIsAWarning(t *testing.T) {
	const age = 49 * time.Hour
	goodput := func(bps, most float64) []measure.Finding {
		return warning(finding.GoodputNearBaseline, "", measure.Figures{"goodput_bps": bps, "baseline_bps": most, "baseline_age_ns": age})
	}
	for _, c := range []struct {
		name string
		r    *measure.Result
		want []measure.Finding
	}{
		{"discarded, near", measured(measure.TestTCP, flow("discard", 32.1e9, 0)), goodput(32.1e9, 40e9)},
		{"discarded, far", measured(measure.TestTCP, flow("discard", 31.9e9, 0)), nil},
		{"read, near", measured(measure.TestTCP, flow("read", 17e9, 0)), goodput(17e9, 20e9)},
		{"read is never held to discarded nor to another way", measured(measure.TestTCP, flow("other", 90e9, 0)), nil},
		{"the second direction", measured(measure.TestTCP, flow("read", 1e9, 0), flow("read", 16e9, 0)), goodput(16e9, 20e9)},
		{"packets, near", measured(measure.TestUDP, flow("batch", 1e9, 400_000)),
			warning(finding.PacketRateNearBaseline, "", measure.Figures{"packets_per_second": 400_000, "baseline_per_second": 500_000, "baseline_age_ns": age})},
		{"packets, far", measured(measure.TestUDP, flow("batch", 90e9, 399_000)), nil},
		{"packets read another way", measured(measure.TestUDP, flow("read", 1e9, 490_000)), nil},
	} {
		compareWithFloor(c.r, storedBaseline)
		if c.r.Hosts.Client.Floor == nil {
			t.Errorf("%s: the result does not carry the floor", c.name)
		}
		wantFindings(t, c.name, c.r, c.want...)
	}
}

func TestTheKeptRoundTripStandsInForTheTrialsOwnFloorOnly(t *testing.T) {
	own := 30_000.0
	for _, c := range []struct {
		name  string
		floor *float64
		loop  string
		p50   float64
		want  int
	}{
		{"none of its own, near", nil, measure.LoopClosed, 79_000, 1},
		{"none of its own, far", nil, measure.LoopClosed, 81_000, 0},
		{"none of its own, timed otherwise", nil, measure.LoopOpen, 25_000, 0},
		{"one of its own", &own, measure.LoopClosed, 25_000, 0},
	} {
		r := measured(measure.TestLatency)
		r.Options.Own = latency.Options{Protocol: "tcp"}
		r.Latency = &measure.Latency{Timing: &measure.Timing{Loop: c.loop}}
		r.Summary.RTT, r.Summary.FloorNs = &measure.Percentiles{P50: c.p50}, c.floor
		if compareWithFloor(r, storedBaseline); len(r.Findings) != c.want || len(r.Findings.With(finding.RTTNearBaseline)) != c.want {
			t.Errorf("%s: %+v, want %d", c.name, r.Findings, c.want)
		}
	}
}

func TestWithoutAStoredBaselineNothingIsCompared(t *testing.T) {
	for name, lookup := range map[string]func(measure.Facts) *measure.HostFloor{
		"no lookup": nil, "nothing stored": func(measure.Facts) *measure.HostFloor { return nil },
	} {
		r := measured(measure.TestTCP, flow("read", 90e9, 0))
		if compareWithFloor(r, lookup); r.Hosts.Client.Floor != nil || len(r.Findings) != 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestTheCostIsThatOfBothEndsOrUnknown(t *testing.T) {
	end := func(perGB float64) *measure.Host {
		return &measure.Host{Counters: &measure.Counters{CPUSecPerGB: perGB}}
	}
	for _, c := range []struct {
		name  string
		hosts measure.Hosts
		want  float64
	}{
		{"both", measure.Hosts{Client: end(0.25), Server: end(0.5)}, 0.75},
		{"the server's process was shared", measure.Hosts{Client: end(0.25), Server: end(0)}, 0},
		{"the server reported nothing", measure.Hosts{Client: end(0.25), Server: &measure.Host{}}, 0},
		{"no server", measure.Hosts{Client: end(0.25)}, 0},
	} {
		r := &measure.Result{Hosts: c.hosts}
		cost(r)
		if got := r.Summary.CPUSecPerGB; (got == nil) != (c.want == 0) || got != nil && *got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
