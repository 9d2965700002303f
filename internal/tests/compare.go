package tests

import (
	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// nearLimit is the share of what the client's host reached on its own loopback
// from which a figure may be the host's and not the path's.
const nearLimit = 0.8

func compareGoodput(r *measure.Result, floor *measure.HostFloor) {
	for _, f := range r.Flows {
		most := 0.0
		for _, g := range floor.Goodput {
			if g.RXPath == f.RXPath {
				most = max(most, g.GoodputBps)
			}
		}
		if got := f.Summary.GoodputBps; most > 0 && got >= nearLimit*most {
			r.Findings.Add(finding.GoodputNearBaseline, "", measure.Figures{
				"goodput_bps": got, "baseline_bps": most, "baseline_age_ns": ageOf(floor, r),
			})
			return
		}
	}
}

func comparePacketRate(r *measure.Result, floor *measure.HostFloor) {
	for _, f := range r.Flows {
		most := 0.0
		for _, p := range floor.Packets {
			if p.RXPath == f.RXPath {
				most = max(most, p.PacketsPerSecond)
			}
		}
		if got := f.Summary.PacketsPerSecond; most > 0 && got >= nearLimit*most {
			r.Findings.Add(finding.PacketRateNearBaseline, "", measure.Figures{
				"packets_per_second": got, "baseline_per_second": most, "baseline_age_ns": ageOf(floor, r),
			})
			return
		}
	}
}

// compareRoundTrip is used if the trial's own loopback baseline, which is measured
// together with the trial and is more accurate, could not be measured.
func compareRoundTrip(r *measure.Result, floor *measure.HostFloor) {
	if r.Summary.FloorNs != nil || r.Latency == nil || r.Summary.RTT == nil {
		return
	}
	for _, t := range floor.RoundTrips {
		if t.Protocol == latency.OptionsOf(r.Options).Protocol && t.ClientTiming() == r.Latency.ClientTiming() && t.RTT.P50 > measure.NearBaseline*r.Summary.RTT.P50 {
			r.Findings.Add(finding.RTTNearBaseline, "", measure.Figures{
				"rtt_ns": r.Summary.RTT.P50, "baseline_ns": t.RTT.P50, "baseline_age_ns": ageOf(floor, r),
			})
			return
		}
	}
}

// ageOf returns how long before the trial the floor was measured, or 0 if it is newer.
func ageOf(floor *measure.HostFloor, r *measure.Result) measure.Duration {
	return measure.Duration(max(0, r.StartedAt.Sub(floor.MeasuredAt)))
}
