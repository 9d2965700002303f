package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"soku/internal/measure"
)

// printSummary writes a result for a person: what came out, how sure it is,
// between which hosts, and what makes it doubtful. Lines fit a terminal of so
// many columns, if any are given.
func printSummary(w io.Writer, columns int, r *measure.Result) {
	row := labelled(w, nameColumns, columns)
	row("path", "%s, %s", pathText(r), testText(r))
	switch {
	case r.Trace != nil:
		printTraceSummary(w, row, r)
	case r.PathMTU != nil:
		printMTUSummary(row, r.PathMTU)
	case r.Connect != nil && r.Latency != nil:
		printConnectSummary(row, r)
	case r.Latency != nil:
		printLatencySummary(row, r)
	default:
		printFlowSummary(row, r)
	}
	if r.Summary.Confidence != "" {
		row("confidence", "%s: %s", r.Summary.Confidence, r.Summary.ConfidenceReason)
	}
	if text := costText(r); text != "" {
		row("cost", "%s", text)
	}
	for _, c := range []struct {
		name string
		host *measure.Host
	}{{"client", r.Hosts.Client}, {"server", r.Hosts.Server}} {
		if c.host != nil && c.host.Facts.OS != "" { // other tools tell nothing of their host
			row(c.name, "%s", hostText(c.host))
		}
	}
	for _, warning := range r.Warnings {
		row("warning", "%s", warning)
	}
}

func pathText(r *measure.Result) string {
	end := func(e measure.Endpoint) string {
		if e.Address == "" || e.Address == e.String() {
			return e.String()
		}
		return fmt.Sprintf("%s (%s)", e, e.Address)
	}
	return end(r.Path.Client) + " → " + end(r.Path.Server)
}

func testText(r *measure.Result) string {
	o := r.Options
	parts := []string{string(r.Test)}
	switch r.Test {
	case measure.TestTCP, measure.TestUDP:
		parts = append(parts, string(o.Direction), measure.Plural(o.Streams, "stream"))
		if name := congestionInForce(r); name != "" {
			parts = append(parts, name)
		}
		if o.Rate > 0 {
			parts = append(parts, "at "+o.Rate.String())
		}
	case measure.TestLatency:
		parts = append(parts, strings.ToUpper(o.Protocol), "messages of "+o.Size.String())
	case measure.TestConnect:
		parts = append(parts, connectText(r)...)
	case measure.TestPing:
		parts = append(parts, "payload of "+o.Size.String())
	case measure.TestTrace, measure.TestMTU:
		parts = append(parts, probeText(o)...)
	}
	if d := r.Summary.DurationNs.Std(); d > 0 {
		parts = append(parts, d.Round(10*time.Millisecond).String())
	}
	return strings.Join(parts, ", ")
}

// congestionInForce is the congestion control of the streams, empty where the
// system did not say or streams differ.
func congestionInForce(r *measure.Result) string {
	name := ""
	for _, f := range r.Flows {
		for _, s := range f.Streams {
			if s.TCP == nil || name != "" && s.TCP.Congestion != name {
				return ""
			}
			name = s.TCP.Congestion
		}
	}
	return name
}

func whoCounted(f measure.Flow) string {
	if f.Acknowledged {
		return "acknowledged by the receiver's system"
	}
	return "counted at the receiver"
}

func printFlowSummary(row rowPrinter, r *measure.Result) {
	for _, f := range r.Flows {
		name := "goodput"
		if len(r.Flows) > 1 {
			name = string(f.Direction)
		}
		s := f.Summary
		if s.GoodputBps == 0 && s.ReceivedBytes == 0 {
			row(name, "not known: the receiver's count is missing")
		} else {
			row(name, "%s %s", measure.FormatRate(s.GoodputBps), whoCounted(f))
			if text := f.StandsFor(); text != "" && r.Test == measure.TestTCP {
				row("", "%s (%s to %s)", text, cmp.Or(f.TXPath, "unknown"), f.RXPath)
			}
		}
		if text := fairnessText(s.Fairness); text != "" {
			row("fairness", "%s", text)
		}
		row("moved", "%s sent, %s received", measure.FormatBytes(float64(s.SentBytes)), measure.FormatBytes(float64(s.ReceivedBytes)))
		if s.Retransmits != nil {
			row("resent", "%s", measure.Plural(*s.Retransmits, "segment"))
		}
		if s.LossRatio != nil {
			row("packets", "%.0f/s received; %d of %d lost (%.4g %%), %d reordered, %d duplicated",
				s.PacketsPerSecond, s.PacketsLost, s.PacketsSent, *s.LossRatio*100, s.PacketsReordered, s.PacketsDuplicated)
		}
		if n := s.SocketDrops; n != nil && *n > 0 && s.PacketsLost > 0 {
			row("", "of these %d were dropped in the receiver's socket: the host was too slow, not the path", min(*n, s.PacketsLost))
		}
		if s.JitterNs != nil {
			row("jitter", "%s", measure.FormatLatency(*s.JitterNs))
		}
	}
	if r.UnderLoad != nil {
		printUnderLoad(row, r)
	}
	if len(r.Flows) > 1 {
		row("together", "%s", measure.FormatRate(r.Summary.GoodputBps))
	}
}

// fairnessText says how evenly several streams shared the goodput; empty for one.
func fairnessText(f *measure.Fairness) string {
	if f == nil {
		return ""
	}
	return fmt.Sprintf("%.3f of 1 (Jain's index); streams had %s to %s, median %s", f.JainIndex,
		measure.FormatRate(f.MinBps), measure.FormatRate(f.MaxBps), measure.FormatRate(f.MedianBps))
}

// printUnderLoad writes what the load does to the latency of the path.
func printUnderLoad(row rowPrinter, r *measure.Result) {
	for _, part := range []struct {
		name string
		rtt  *measure.Percentiles
	}{{"idle", r.Summary.IdleRTT}, {"loaded", r.Summary.LoadedRTT}} {
		if p := part.rtt; p != nil {
			row(part.name, "round trip median %s, p99 %s, max %s (%d messages)", measure.FormatLatency(p.P50), measure.FormatLatency(p.P99), measure.FormatLatency(p.Max), p.Count)
		}
	}
	if r.Summary.RPM > 0 {
		row("response", "%.0f round trips per minute under load (RPM)", r.Summary.RPM)
	}
}

func printLatencySummary(row rowPrinter, r *measure.Result) {
	l := r.Latency
	if p := r.Summary.RTT; p != nil {
		row("round trip", "median %s, mean %s, min %s, max %s", measure.FormatLatency(p.P50), measure.FormatLatency(p.Mean), measure.FormatLatency(p.Min), measure.FormatLatency(p.Max))
		row("tail", "p90 %s, p95 %s, p99 %s, p99.9 %s, p99.99 %s", measure.FormatLatency(p.P90), measure.FormatLatency(p.P95),
			measure.FormatLatency(p.P99), measure.FormatLatency(p.P999), measure.FormatLatency(p.P9999))
	}
	if p := r.Summary.ApplicationRTT; p != nil && l.Application.Count() > 0 && *p != *r.Summary.RTT {
		row("program", "median %s, p99 %s from program to program: waking up the client is in it", measure.FormatLatency(p.P50), measure.FormatLatency(p.P99))
	}
	if w := l.OneWay; w != nil {
		row("one way", "median %s up, %s down, known within ± %s", measure.FormatLatency(w.UpNs.P50), measure.FormatLatency(w.DownNs.P50), measure.FormatLatency(float64(w.ClockErrorNs)))
	}
	if l.Split != nil {
		printSplit(row, l.Split)
	}
	if len(l.Flows) > 0 {
		by := func(a, b measure.LatencyFlow) int { return cmp.Compare(a.RTT.P50, b.RTT.P50) }
		fast, slow := slices.MinFunc(l.Flows, by), slices.MaxFunc(l.Flows, by)
		row("flows", "%d, medians from %s (%s) to %s (%s)", len(l.Flows), measure.FormatLatency(fast.RTT.P50), fast.Local, measure.FormatLatency(slow.RTT.P50), slow.Local)
	}
	row("replies", "%d of %d, %d lost", l.Received, l.Sent, l.Lost)
	if a := l.Arrivals; a != nil {
		row("schedule", "%s gaps; sent late by p50 %s, p99 %s, max %s", a.Process, measure.FormatLatency(a.SendErrorNs.P50), measure.FormatLatency(a.SendErrorNs.P99), measure.FormatLatency(a.SendErrorNs.Max))
	}
	if l.LateSends > 0 {
		row("late", "%d requests left late; their time counts from when they were due", l.LateSends)
	}
	if l.Floor != nil {
		row("floor", "%s median on this host's loopback: what the tool and the host add", measure.FormatLatency(l.Floor.RTT.P50))
	}
	row("method", "%s", l.Method)
	if l.ServerMethod != "" {
		row("echo", "%s", l.ServerMethod)
	}
}

// printSplit writes where the round trips went. The percentiles of a line are each
// part's own and need not add up.
func printSplit(row rowPrinter, s *measure.Split) {
	for _, line := range []struct {
		name, label string
		of          func(measure.Percentiles) float64
	}{
		{"split", "p50", func(p measure.Percentiles) float64 { return p.P50 }},
		{"", "p99", func(p measure.Percentiles) float64 { return p.P99 }},
	} {
		text := func(p measure.Percentiles) string { return measure.FormatLatency(line.of(p)) }
		iface := ""
		if s.InterfaceNs != nil {
			iface = " + interface " + text(*s.InterfaceNs)
		}
		row(line.name, "%s: host %s%s + path %s + far host %s + host %s", line.label,
			text(s.HostSendNs), iface, text(s.PathNs), text(s.FarHostNs), text(s.HostReceiveNs))
	}
	if s.Unsplit > 0 {
		row("", "%d round trips without all stamps are in no part", s.Unsplit)
	}
}

func hostText(h *measure.Host) string {
	f := h.Facts
	parts := []string{f.Hostname, fmt.Sprintf("%s/%s", f.OS, f.Arch)}
	if f.CPUs > 0 {
		parts = append(parts, measure.Plural(f.CPUs, "CPU"))
	}
	if f.Interface != "" {
		parts = append(parts, fmt.Sprintf("%s MTU %d", f.Interface, f.MTU))
	}
	if len(h.PinnedCPUs) > 0 {
		parts = append(parts, "loops pinned to CPU "+measure.FormatCPUs(h.PinnedCPUs))
	}
	return strings.Join(parts, ", ")
}

// printRows writes the table of round trips, a row each N.
func printRows(w io.Writer, l *measure.Latency) {
	if l == nil || len(l.Rows) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%10s %10s %10s %10s %10s %10s %10s %10s %10s\n", "avg", "min", "p50", "p90", "p95", "p99", "p99.9", "p99.99", "max")
	for _, row := range l.Rows {
		p := row.RTT
		for i, v := range []float64{p.Mean, p.Min, p.P50, p.P90, p.P95, p.P99, p.P999, p.P9999, p.Max} {
			if i > 0 {
				fmt.Fprint(w, " ")
			}
			fmt.Fprintf(w, "%10s", measure.FormatLatency(v))
		}
		fmt.Fprintln(w)
	}
}
