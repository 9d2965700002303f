package ingest

import (
	"strings"

	"soku/internal/measure"
)

// netperfTable reads a classic table: lines of names, then lines of numbers.
func (s *Source) netperfTable(r *measure.Result, head string, lines []string, line int) error {
	var rows [][]float64
	scale := 0.0
	for _, text := range lines[1:] {
		for _, word := range strings.Fields(text) {
			if f := netperfScale(word); f > 0 {
				scale = f
			}
		}
		if row := numbersOf(text); len(row) > 0 {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return s.cutOff("ingest.cut_off.netperf", nil)
	}
	first := rows[0]
	switch {
	case strings.Contains(head, "REQUEST/RESPONSE"), strings.Contains(head, "Request/Response"):
		if len(first) != 6 || first[4] <= 0 || first[4] > 1e6 {
			return s.fail(line, "ingest.netperf.round_trips", measure.Figures{"numbers": len(first)})
		}
		r.Summary.DurationNs = seconds(first[4])
		if strings.Contains(head, "Connect/") {
			return s.netperfConnects(r, first[5], line)
		}
		r.Options.Size = measure.Size(min(first[2], 1<<30))
		return s.netperfRoundTrips(r, head, first[5], strings.Contains(head, "UDP "))
	case scale == 0:
		return s.fail(line, "ingest.netperf.no_unit", nil)
	case strings.Contains(head, "UDP STREAM"):
		return s.netperfDatagrams(r, rows, scale, line)
	case strings.Contains(head, "TCP STREAM"), strings.Contains(head, "TCP MAERTS"), strings.Contains(head, "TCP SENDFILE"):
		if len(first) < 5 || first[3] <= 0 || first[3] > 1e6 {
			return s.fail(line, "ingest.netperf.stream", measure.Figures{"numbers": len(first)})
		}
		r.Summary.DurationNs = seconds(first[3])
		s.netperfStream(r, first[4]*scale, strings.Contains(head, "MAERTS"), false)
		missing(r, measure.CodeNoRetransmits)
		return nil
	}
	return s.fail(line, "ingest.netperf.test", measure.Figures{"test": short(strings.Split(head, " TEST from ")[0])})
}

// netperfDatagrams reads the two lines of UDP_STREAM: the sender's, and the
// receiver's, which has no size of messages and no errors.
func (s *Source) netperfDatagrams(r *measure.Result, rows [][]float64, scale float64, line int) error {
	if len(rows) < 2 || len(rows[0]) != 6 || len(rows[1]) != 4 {
		return s.cutOff("ingest.cut_off.netperf_datagrams", nil)
	}
	sent, got := rows[0], rows[1]
	if sent[2] <= 0 || sent[2] > 1e6 || got[2] > sent[3] {
		return s.fail(line, "ingest.counts", measure.Figures{"tool": "netperf", "sent": sent[3], "received": got[2]})
	}
	r.Test, r.Options.Streams, r.Options.Direction = measure.TestUDP, 1, measure.Forward
	r.Options.Size = measure.Size(min(sent[1], 1<<30))
	f := emptyFlow(measure.Forward)
	f.Summary = measure.Summary{GoodputBps: got[3] * scale, DurationNs: seconds(sent[2])}
	setDatagrams(&f.Summary, int64(sent[3]), int64(sent[3]-got[2]))
	setFlows(r, f)
	return nil
}

// numbersOf returns the numbers of a line of numbers only.
func numbersOf(text string) []float64 {
	var out []float64
	for _, word := range strings.Fields(text) {
		v, ok := number(word)
		if !ok {
			return nil
		}
		out = append(out, v)
	}
	return out
}
