package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"soku/internal/measure"
)

// connectText is what the path line says of a connect test.
func connectText(r *measure.Result) []string {
	o := r.Options
	var parts []string
	if o.ToPort > 0 {
		parts = append(parts, fmt.Sprintf("TCP port %d", o.ToPort))
	}
	if o.RequestRate > 0 {
		parts = append(parts, fmt.Sprintf("%g connections a second", o.RequestRate))
	} else {
		parts = append(parts, fmt.Sprintf("%d at a time", o.Streams))
	}
	if o.Size > 0 {
		parts = append(parts, "a request of "+o.Size.String())
	}
	if c := r.Connect; c != nil {
		parts = append(parts, "close "+c.Close)
	}
	return parts
}

func printConnectSummary(row rowPrinter, r *measure.Result) {
	c, l := r.Connect, r.Latency
	switch {
	case c.Accepted != nil:
		row("rate", "%s connections/s counted at the server (client: %s)", perSecond(r.Summary.ConnectionsPerSecond), perSecond(c.OpenedPerSecond))
		row("counted", "%d set up by the client, %d accepted by the server, %d failed", c.Opened, *c.Accepted, c.Failed)
	default:
		row("rate", "%s connections/s counted at the client", perSecond(c.OpenedPerSecond))
		row("counted", "%d set up, %d failed", c.Opened, c.Failed)
	}
	if len(c.Failures) > 0 {
		var parts []string
		for _, kind := range slices.Sorted(maps.Keys(c.Failures)) {
			parts = append(parts, fmt.Sprintf("%d %s", c.Failures[kind], strings.ReplaceAll(kind, "_", " ")))
		}
		row("failures", "%s", strings.Join(parts, ", "))
	}
	if p := r.Summary.RTT; p != nil {
		row("set-up", "median %s, mean %s, min %s, max %s", measure.FormatLatency(p.P50), measure.FormatLatency(p.Mean), measure.FormatLatency(p.Min), measure.FormatLatency(p.Max))
		row("tail", "p90 %s, p95 %s, p99 %s, p99.9 %s, p99.99 %s", measure.FormatLatency(p.P90), measure.FormatLatency(p.P95),
			measure.FormatLatency(p.P99), measure.FormatLatency(p.P999), measure.FormatLatency(p.P9999))
	}
	if l.LateSends > 0 {
		row("late", "%d connections began late; their time counts from when they were due", l.LateSends)
	}
	if l.Floor != nil {
		row("floor", "%s median on this host's loopback: what the tool and the host add", measure.FormatLatency(l.Floor.RTT.P50))
	}
	way := "client " + c.ClientPath
	if c.ServerPath != "" {
		way += ", server " + c.ServerPath
	}
	if c.Entry == "main" {
		way += ", through the server's main port"
	}
	row("method", "%s; %s", l.Method, way)
}

// perSecond is a rate of events with three or more digits.
func perSecond(v float64) string {
	if v < 100 {
		return fmt.Sprintf("%.3g", v)
	}
	return fmt.Sprintf("%.0f", v)
}
