package ingest

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"soku/internal/measure"
)

// iperf3Row is a line of a table that iperf3 prints, for a stream or for their sum.
type iperf3Row struct {
	iperfFigures
	id, role      string // SUM for the sum; TX-C, RX-C, TX-S, RX-S in a test in both directions
	label         string // sender, receiver, (omitted) or empty
	retransmits   *float64
	jitter        *float64 // ms
	lost, packets *float64
	absent        bool // a figure cannot be
}

// bracketed reads a line that begins with a stream in brackets: its connection, its figures, or a
// count of datagrams.
func (t *iperf3Test) bracketed(s *Source, at int, line string) error {
	id, rest, ok := strings.Cut(line[1:], "]")
	if id = strings.TrimSpace(id); !ok {
		return nil
	}
	role := ""
	if inner, found := strings.CutPrefix(rest, "["); found {
		role, rest, _ = strings.Cut(inner, "]")
	}
	words := strings.Fields(rest)
	switch {
	case len(words) >= 8 && words[0] == "local" && words[4] == "connected":
		return t.connection(s, at, id, words)
	case strings.HasSuffix(rest, "datagrams received out-of-order"):
		return t.outOfOrder(role, words)
	case len(words) < 6 || words[1] != "sec" || !strings.Contains(words[0], "-"):
		return nil
	}
	row, ok := iperf3Figures(words, t.udp)
	if !ok {
		return s.fail(at, "ingest.iperf3.line", nil)
	}
	if row.absent {
		s.noteImpossible(at)
	}
	row.id, row.role = id, role
	if err := t.stream(s, at, id); err != nil {
		return err
	}
	if t.finals || row.label == "sender" || row.label == "receiver" {
		if len(t.rows) >= 4*maxStreams {
			return s.fail(at, "ingest.too_many.streams", measure.Figures{"limit": maxStreams})
		}
		t.rows = append(t.rows, row)
		return nil
	}
	several := len(t.ids) > 1 && !t.roles || len(t.ids) > 2
	if several != (id == "SUM") {
		return nil // the sum is taken, and of one stream its own
	}
	if len(t.d.Intervals) >= maxRecords {
		return s.fail(at, "ingest.too_many.intervals", measure.Figures{"limit": maxRecords})
	}
	t.d.Intervals = append(t.d.Intervals, iperf3Interval{Sum: t.sum(&row)})
	return nil
}

// connection reads "local 127.0.0.1 port 35626 connected to 127.0.0.1 port 5201".
func (t *iperf3Test) connection(s *Source, at int, id string, words []string) error {
	if len(t.d.Start.Connected) == 0 {
		t.d.Start.Connected = []iperf3Connected{{LocalHost: words[1], RemoteHost: words[6]}}
	}
	return t.stream(s, at, id)
}

// stream adds a stream. People often leave out the lines of connections and of intervals.
func (t *iperf3Test) stream(s *Source, at int, id string) error {
	switch {
	case id == "SUM" || t.ids[id]:
		return nil
	case len(t.ids) >= maxStreams:
		return s.fail(at, "ingest.too_many.streams", measure.Figures{"limit": maxStreams})
	}
	t.ids[id] = true
	return nil
}

// outOfOrder reads " 0.0- 2.0 sec  4 datagrams received out-of-order". The line of the sum comes
// last and is taken.
func (t *iperf3Test) outOfOrder(role string, words []string) error {
	if n, ok := number(words[max(len(words)-4, 0)]); ok && t.finals {
		if t.reordered == nil {
			t.reordered = map[string]float64{}
		}
		role = cmp.Or(role, "-")
		t.reordered[role] = n
	}
	return nil
}

// iperf3Figures reads the words of "0.00-1.00   sec  2.63 GBytes  22.6 Gbits/sec" and what follows:
// retransmits and the congestion window of a sender, datagrams of one, jitter and losses of a
// receiver.
func iperf3Figures(words []string, udp bool) (row iperf3Row, ok bool) {
	if row.iperfFigures, ok = readIperfFigures(words[0], words[2], words[4], iperfUnit(words[3]), iperfUnit(words[5])); !ok {
		return row, false
	}
	tail := words[6:]
	if n := len(tail); n > 0 && slices.Contains([]string{"sender", "receiver", "(omitted)"}, tail[n-1]) {
		row.label, tail = tail[n-1], tail[:n-1]
	}
	if len(tail) == 0 {
		return row, true
	}
	if len(tail) >= 3 && tail[1] == "ms" {
		return row, row.datagrams(tail[0], tail[2])
	}
	n, whole := count(tail[0])
	switch {
	case !whole:
		row.absent = impossible(tail[0])
		return row, row.absent
	case udp:
		row.packets = new(float64(n))
	default:
		row.retransmits = new(float64(n))
	}
	return row, true
}

// datagrams reads "0.021" ms and "0/39", or "Unknown/39" of an old server with an omitted start.
func (r *iperf3Row) datagrams(jitter, counts string) bool {
	j, ok := number(jitter)
	if ok {
		r.jitter = &j
	} else {
		r.absent = impossible(jitter)
		ok = r.absent
	}
	lost, total, _ := strings.Cut(counts, "/")
	if lost == "Unknown" {
		_, whole := count(total)
		return ok && whole
	}
	l, n, whole := iperfLosses(lost, total)
	if !whole {
		r.absent = true
		return ok && impossibleLosses(lost, total)
	}
	r.lost, r.packets = new(float64(l)), new(float64(n))
	return ok
}

// sum is a row as a document of -J has it. Its sender tells whether the end that printed it sends.
func (t *iperf3Test) sum(row *iperf3Row) *iperf3Sum {
	sends := t.reverse == t.d.atServer()
	if row.role != "" {
		sends = strings.HasPrefix(row.role, "TX")
	}
	return &iperf3Sum{
		Start: row.from, End: row.to, Seconds: math.Round((row.to-row.from)*1000) / 1000, Bytes: row.bytes, Bps: row.bps, Retransmits: row.retransmits,
		Jitter: row.jitter, Lost: row.lost, Packets: row.packets, Omitted: row.label == "(omitted)", Sender: &sends,
	}
}
