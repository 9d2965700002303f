package ingest

import (
	"strings"

	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// The lines of a file of --full-log that are not in the program's output.
const (
	sockperfLogBegins = "test was performed using the following parameters: "
	sockperfLogTable  = "packet, txTime(sec), rxTime(sec)"
)

// sockperfLog begins the run of a file of --full-log, which has the parameters instead of the version.
func sockperfLog(parameters string, at, record int) *sockperfRun {
	r := newReading(measure.TestLatency, "sockperf", "", record, at)
	p := &sockperfRun{r: r, proto: "udp", log: &sockperfPackets{}}
	for _, word := range strings.Fields(parameters) {
		if word == "--tcp" {
			p.proto = "tcp"
		}
		if text, ok := strings.CutPrefix(word, "--msg-size="); ok {
			if n, ok := count(text); ok && n <= 1<<20 {
				r.Options.Size = measure.Size(n)
			}
		}
	}
	r.Options.Own = latency.Options{Protocol: p.proto}
	return p
}

// sockperfPackets is the table of the packets of a run: when each was sent and received and, in newer
// versions, its round trip or half of it.
type sockperfPackets struct {
	times *measure.Histogram // nil before the table
	scale float64            // of the last column to ns of a round trip, or 0 without such a column
}

func (t *sockperfPackets) header(s *Source, at int, line string) error {
	column := strings.TrimPrefix(strings.TrimSpace(strings.TrimPrefix(line, sockperfLogTable)), ", ")
	switch column {
	case "":
	case "rtt(usec)":
		t.scale = 1e3
	case "latency(usec)":
		t.scale = 2e3
	default:
		return s.fail(at, "ingest.sockperf.column", measure.Figures{"column": short(column)})
	}
	t.times = measure.NewHistogram()
	return nil
}

// packet reads "0, 2.440000000, 2.440100000, 100.000".
func (t *sockperfPackets) packet(s *Source, at int, line string) error {
	if line == "" || strings.HasPrefix(line, "---") {
		return nil
	}
	cells := strings.Split(line, ", ")
	ns, ok := 0.0, false
	switch {
	case t.scale > 0 && len(cells) == 4:
		ns, ok = number(cells[3])
		ns *= t.scale
	case t.scale == 0 && len(cells) == 3:
		sent, ok1 := number(cells[1])
		received, ok2 := number(cells[2])
		ns, ok = (received-sent)*1e9, ok1 && ok2 && received >= sent
	}
	if !ok && s.openEnd() && at == s.lastLine() {
		return nil // its end is missing, and so is the packet
	}
	if !ok || !plausible(ns) {
		return s.fail(at, "ingest.number.figure", measure.Figures{"tool": "sockperf", "text": short(line)})
	}
	t.times.Record(int64(max(ns, 1)))
	return nil
}

// fill gives a result the histogram of the table. Where it has more packets than were measured, such as those
// of the warm-up, the histogram would be another than the figures.
func (t *sockperfPackets) fill(s *Source, r *measure.Result, measured int64) error {
	switch {
	case t.times == nil || t.times.Count() < measured:
		return s.cutOff("ingest.cut_off.sockperf_log", measure.Figures{"packets": measured})
	case t.times.Count() > measured:
		missing(r, finding.NoHistogram)
	default:
		r.Latency.Histogram = t.times
		r.Summary.RTT = t.times.Percentiles()
	}
	return nil
}
