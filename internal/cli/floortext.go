package cli

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"soku/internal/floor"
	"soku/internal/measure"
)

// printFloor writes a floor for a person.
func printFloor(w io.Writer, columns int, d *floor.Document) {
	row := labelled(w, nameColumns, columns)
	row("host", "%s", hostText(&measure.Host{Facts: d.Host}))
	quick := ""
	if d.Quick {
		quick = " (quick)"
	}
	row("measured", "%s by soku %s in %s%s", moment(d.MeasuredAt), d.Tool.Version, d.TookNs.Std().Round(100*time.Millisecond), quick)
	printFloorRoundTrips(w, d)
	printFloorRates(w, d)
	if len(d.Timers) > 0 {
		fmt.Fprintf(w, "\n%-22s %11s %11s %11s\n", "a sleep ends late by", "median", "p99", "max")
		for _, t := range d.Timers {
			fmt.Fprintf(w, "%-22s %11s %11s %11s\n", time.Duration(t.AskedNs),
				measure.FormatLatency(t.LateNs.P50), measure.FormatLatency(t.LateNs.P99), measure.FormatLatency(t.LateNs.Max))
		}
	}
	if len(d.Findings) > 0 {
		fmt.Fprintln(w)
	}
	printFindings(row, d.Findings)
}

func printFloorRoundTrips(w io.Writer, d *floor.Document) {
	if len(d.RoundTrips) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%-22s %11s %11s %11s %11s %11s %9s\n", "round trip", "min", "median", "p99", "p99.9", "max", "count")
	for _, t := range d.RoundTrips {
		p := t.RTT
		fmt.Fprintf(w, "%-22s %11s %11s %11s %11s %11s %9d\n", t.Mode, measure.FormatLatency(p.Min), measure.FormatLatency(p.P50),
			measure.FormatLatency(p.P99), measure.FormatLatency(p.P999), measure.FormatLatency(p.Max), p.Count)
	}
}

func printFloorRates(w io.Writer, d *floor.Document) {
	way := func(tx, rx string) string { return cmp.Or(tx, "?") + " → " + cmp.Or(rx, "?") }
	if len(d.Goodput) > 0 {
		fmt.Fprintf(w, "\n%-22s %14s %18s %-22s %s\n", "goodput, one stream", "rate", "a core of both", "way", "congestion control")
	}
	for _, g := range d.Goodput {
		core := "not known"
		if g.BpsPerCore > 0 {
			core = measure.FormatRate(g.BpsPerCore)
		}
		fmt.Fprintf(w, "%-22s %14s %18s %-22s %s\n", g.Mode, measure.FormatRate(g.GoodputBps), core, way(g.TXPath, g.RXPath), cmp.Or(g.Congestion, "not known"))
	}
	if len(d.Packets) > 0 {
		fmt.Fprintf(w, "\n%-22s %14s %18s %-22s %s\n", "packets", "received", "CPU a packet", "way", "lost")
	}
	for _, p := range d.Packets {
		cpu := "not known"
		if p.SenderNsPerPacket > 0 && p.ReceiverNsPerPacket > 0 {
			cpu = measure.FormatLatency(p.SenderNsPerPacket + p.ReceiverNsPerPacket)
		}
		lost := "not known"
		if p.LossRatio != nil {
			lost = fmt.Sprintf("%.3g %%", *p.LossRatio*100)
		}
		fmt.Fprintf(w, "%-22s %12.0f/s %18s %-22s %s\n", fmt.Sprintf("%s, %s", p.Mode, p.SizeBytes), p.PacketsPerSecond, cpu, way(p.TXPath, p.RXPath), lost)
	}
}
