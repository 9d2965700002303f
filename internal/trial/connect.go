package trial

import (
	"math"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// assembleConnect makes the figures of a connect test: connections are counted
// where they are accepted, set-up times at the client.
func assembleConnect(r *measure.Result, own, other *measure.End, floor *measure.FloorReading) {
	c := own.Connect
	r.Connect = c
	if got := other.Connect; got != nil && got.Accepted != nil {
		n := max(*got.Accepted, 0)
		c.Accepted, c.AcceptedPerSecond = &n, max(got.AcceptedPerSecond, 0)
		c.ForeignConns, c.Unserved, c.ServerPath = max(got.ForeignConns, 0), max(got.Unserved, 0), got.ServerPath
	}
	assembleLatency(r, own.Latency, floor)
	s := &r.Summary
	// Connections are no packets, and nothing of a connection is lost but an attempt.
	s.PacketsSent, s.PacketsReceived, s.PacketsLost = 0, 0, 0
	s.DurationNs = measure.Duration(c.DurationNs)
	if s.RTT == nil {
		s.SetConfidence(measure.Low, measure.NewFinding(finding.NoConnection, "", nil))
	}
	s.ConnectionsPerSecond = c.OpenedPerSecond
	if c.Accepted == nil {
		return
	}
	if *c.Accepted > 1 && c.AcceptedPerSecond > 0 {
		s.ConnectionsPerSecond = c.AcceptedPerSecond
	}
	if a, b := float64(*c.Accepted), float64(c.Opened); math.Abs(a-b) > disagreement*max(a, b)+1+float64(c.Unfinished) {
		r.Findings.Add(finding.ConnectionCountsDiffer, "", measure.Figures{"client_connections": c.Opened, "server_connections": *c.Accepted})
	}
}
