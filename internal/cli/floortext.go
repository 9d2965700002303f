package cli

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"soku/internal/floor"
	"soku/internal/measure"
	"soku/internal/text"
	"soku/internal/text/messages"
)

// printFloor writes a floor for a person.
func printFloor(c *text.Catalogue, w io.Writer, columns int, d *floor.Document) {
	var head text.Lines
	head.Row("label.host", "summary.host", hostArgs(&measure.Host{Facts: d.Host}))
	head.Row("label.measured", "floor.measured", text.Args{
		"When": moment(d.MeasuredAt), "Version": d.Tool.Version, "Took": d.TookNs.Std().Round(100 * time.Millisecond), "Quick": d.Quick,
	})
	printLines(c, w, columns, head)
	printFloorRoundTrips(c, w, d)
	printFloorRates(c, w, d)
	printFloorTimers(c, w, d)
	if len(d.Findings) > 0 {
		fmt.Fprintln(w)
	}
	printFindings(c, labelled(w, nameColumns, columns), d.Findings)
}

// Widths of the tables of a floor, see [cells].
var (
	floorRoundTripWidths = []int{-22, 11, 11, 11, 11, 11, 9}
	floorRateWidths      = []int{-22, 14, 18, -22, 0}
	floorTimerWidths     = []int{-22, 11, 11, 11}
)

func printFloorRoundTrips(c *text.Catalogue, w io.Writer, d *floor.Document) {
	if len(d.RoundTrips) == 0 {
		return
	}
	printFloorHead(c, w, floorRoundTripWidths, "floor.round_trip", "floor.min", "floor.median", "floor.p99", "floor.p99_9", "floor.max", "floor.count")
	for _, t := range d.RoundTrips {
		p := t.RTT
		fmt.Fprintln(w, cells(floorRoundTripWidths, c.Mode(t.Mode), messages.FormatLatency(p.Min), messages.FormatLatency(p.P50),
			messages.FormatLatency(p.P99), messages.FormatLatency(p.P999), messages.FormatLatency(p.Max), fmt.Sprint(p.Count)))
	}
}

func printFloorRates(c *text.Catalogue, w io.Writer, d *floor.Document) {
	unknown := c.Sentence("floor.unknown", nil)
	way := func(tx, rx string) string { return cmp.Or(tx, "?") + " → " + cmp.Or(rx, "?") }
	if len(d.Goodput) > 0 {
		printFloorHead(c, w, floorRateWidths, "floor.goodput", "floor.rate", "floor.core", "floor.way", "floor.congestion")
	}
	for _, g := range d.Goodput {
		core := unknown
		if g.BpsPerCore > 0 {
			core = messages.FormatRate(g.BpsPerCore)
		}
		fmt.Fprintln(w, cells(floorRateWidths, c.Mode(g.Mode), messages.FormatRate(g.GoodputBps), core, way(g.TXPath, g.RXPath), cmp.Or(g.Congestion, unknown)))
	}
	if len(d.Packets) > 0 {
		printFloorHead(c, w, floorRateWidths, "floor.packets", "floor.received", "floor.cpu", "floor.way", "floor.lost")
	}
	for _, p := range d.Packets {
		cpu := unknown
		if p.SenderNsPerPacket > 0 && p.ReceiverNsPerPacket > 0 {
			cpu = messages.FormatLatency(p.SenderNsPerPacket + p.ReceiverNsPerPacket)
		}
		lost := unknown
		if p.LossRatio != nil {
			lost = c.Sentence("floor.loss", text.Args{"Ratio": *p.LossRatio})
		}
		fmt.Fprintln(w, cells(floorRateWidths, c.Sentence("floor.packets.mode", text.Args{"Mode": p.Mode, "Size": p.SizeBytes}),
			c.Sentence("floor.packets.rate", text.Args{"Rate": p.PacketsPerSecond}), cpu, way(p.TXPath, p.RXPath), lost))
	}
}

func printFloorTimers(c *text.Catalogue, w io.Writer, d *floor.Document) {
	if len(d.Timers) == 0 {
		return
	}
	printFloorHead(c, w, floorTimerWidths, "floor.sleep", "floor.median", "floor.p99", "floor.max")
	for _, t := range d.Timers {
		fmt.Fprintln(w, cells(floorTimerWidths, time.Duration(t.AskedNs).String(),
			messages.FormatLatency(t.LateNs.P50), messages.FormatLatency(t.LateNs.P99), messages.FormatLatency(t.LateNs.Max)))
	}
}

// printFloorHead writes the headings of a table, by their keys, below a blank line.
func printFloorHead(c *text.Catalogue, w io.Writer, widths []int, keys ...string) {
	fmt.Fprintf(w, "\n%s\n", cells(widths, c.Headings(keys...)...))
}
