package trial

import (
	"fmt"
	"time"

	"soku/internal/measure"
)

// nearLimit is the share of what the client's host reached on its own loopback
// from which a figure may be the host's and not the path's.
const nearLimit = 0.8

// compareWithFloor attaches what is kept of the client's host and warns where a
// figure is near it. Like is compared with like: the same ways into and out of
// the kernel, the same way of timing.
func compareWithFloor(r *measure.Result, lookup func(measure.Facts) *measure.HostFloor) {
	client := r.Hosts.Client
	if lookup == nil || client == nil {
		return
	}
	if client.Floor = lookup(client.Facts); client.Floor == nil {
		return
	}
	switch r.Test {
	case measure.TestTCP:
		warnNearGoodput(r, client.Floor)
	case measure.TestUDP:
		warnNearPackets(r, client.Floor)
	case measure.TestLatency:
		warnNearRoundTrip(r, client.Floor)
	}
}

func warnNearGoodput(r *measure.Result, floor *measure.HostFloor) {
	for _, f := range r.Flows {
		most := 0.0
		for _, g := range floor.Goodput {
			if g.RXPath == f.RXPath {
				most = max(most, g.GoodputBps)
			}
		}
		if got := f.Summary.GoodputBps; most > 0 && got >= nearLimit*most {
			warnNear(r, floor, fmt.Sprintf("the goodput of %s", measure.FormatRate(got)), measure.FormatRate(most)+" with one stream")
			return
		}
	}
}

func warnNearPackets(r *measure.Result, floor *measure.HostFloor) {
	for _, f := range r.Flows {
		most := 0.0
		for _, p := range floor.Packets {
			if p.RXPath == f.RXPath {
				most = max(most, p.PacketsPerSecond)
			}
		}
		if got := f.Summary.PacketsPerSecond; most > 0 && got >= nearLimit*most {
			warnNear(r, floor, fmt.Sprintf("the rate of %.0f packets/s", got), fmt.Sprintf("%.0f packets/s", most))
			return
		}
	}
}

// warnNearRoundTrip stands in for the trial's own floor, which is taken right
// beside it and is better, where that could not be measured.
func warnNearRoundTrip(r *measure.Result, floor *measure.HostFloor) {
	if r.Summary.FloorNs != nil || r.Latency == nil || r.Summary.RTT == nil {
		return
	}
	for _, t := range floor.RoundTrips {
		if t.Protocol == r.Options.Protocol && t.Method == r.Latency.Method && t.RTT.P50 > nearFloor*r.Summary.RTT.P50 {
			warnNear(r, floor, "the median of "+measure.FormatLatency(r.Summary.RTT.P50), measure.FormatLatency(t.RTT.P50))
			return
		}
	}
}

func warnNear(r *measure.Result, floor *measure.HostFloor, figure, limit string) {
	r.Warnings = append(r.Warnings, fmt.Sprintf("%s is near what this host does on its own loopback: %s (soku floor, %s)",
		figure, limit, ago(r.StartedAt.Sub(floor.MeasuredAt))))
}

// ago is a time before the trial for a person, in the largest whole unit.
func ago(d time.Duration) string {
	for _, u := range []struct {
		name string
		len  time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}} {
		if n := int64(d / u.len); n > 0 {
			return measure.Plural(n, u.name) + " ago"
		}
	}
	return "just now"
}
