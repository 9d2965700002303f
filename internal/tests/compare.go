package tests

import (
	"maps"

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
		if t.Protocol == latency.OptionsOf(r.Options).Protocol && t.ClientTiming() == r.Latency.ClientTiming() && ReportBaseline(r, t.RTT.P50, measure.Figures{"baseline_age_ns": ageOf(floor, r)}) {
			return
		}
	}
}

// ReportBaseline adds a finding about the median round trip of r if a loopback baseline in ns is a
// large part of it, or all of it. more are figures of the baseline that the finding has, too.
func ReportBaseline(r *measure.Result, baseline float64, more measure.Figures) (found bool) {
	median := r.Summary.RTT.P50
	figures := measure.Figures{"rtt_ns": median, "baseline_ns": baseline}
	maps.Copy(figures, more)
	switch {
	case baseline >= median:
		r.Findings.Add(finding.TooFastToMeasure, "", figures)
	case baseline > measure.NearBaseline*median:
		r.Findings.Add(finding.RTTNearBaseline, "", figures)
	default:
		return false
	}
	return true
}

// A baseline that is this much above the median of its trial is measured again, mostBaselines times
// in all: something kept the host busy for a moment.
const (
	aboveMedian   = 1.1
	mostBaselines = 2
)

// leastBaseline measures a loopback baseline until it is not above the median round trip in ns
// that it is a part of, and returns the smallest one. first has been measured already, or is nil.
// It fails only if there is no reading.
func leastBaseline(median float64, first *measure.FloorReading, once func() (*measure.FloorReading, error)) (best *measure.FloorReading, err error) {
	best = first
	for n := measured(first); n < mostBaselines && (best == nil || best.RTT.P50 > aboveMedian*median); n++ {
		reading, err := once()
		if err != nil || reading == nil {
			if best != nil {
				err = nil
			}
			return best, err
		}
		if best == nil || reading.RTT.P50 < best.RTT.P50 {
			best = reading
		}
	}
	return best, nil
}

// measured is how many readings there are.
func measured(first *measure.FloorReading) int {
	if first == nil {
		return 0
	}
	return 1
}

// ageOf returns how long before the trial the floor was measured, or 0 if it is newer.
func ageOf(floor *measure.HostFloor, r *measure.Result) measure.Duration {
	return measure.Duration(max(0, r.StartedAt.Sub(floor.MeasuredAt)))
}
