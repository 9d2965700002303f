package ingest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/stats"
)

// ethrRun is one test of Ethr while its figures are read.
type ethrRun struct {
	line      int
	server    bool   // the server's list, which counts what it receives
	kind      string // at a server
	target    string
	remote    string
	protocol  string
	startedAt time.Time
	last      time.Time // of the newest entry of a server's log
	broken    bool
	moved     bool

	bps, cps, pps []float64 // one element an interval
	averages      []float64 // of the round trips of each second, on a server's console
	rows          [][]float64
	perRow        int64
	setups        *measure.Histogram
	route         *route
	port          bool // the destination has a port: its probes are of TCP
	icmp          bool
	sent, got     int64
	hasCounts     bool
}

func (p *ethrRun) empty() bool {
	return (p.route == nil || len(p.route.hops) == 0) && len(p.bps)+len(p.cps)+len(p.pps)+len(p.averages)+len(p.rows) == 0 && p.setups == nil && !p.hasCounts
}

// text reads a line of the console.
func (p *ethrRun) text(s *Source, line int, text string, words []string) error {
	if read, err := p.routeLine(s, line, text); read || err != nil {
		return err
	}
	if name, ns := ethrSetup(text); name != "" {
		p.icmp = name == "icmp"
		if ns > 0 {
			if p.setups == nil {
				p.setups = measure.NewHistogram()
			}
			p.setups.Record(int64(ns))
		}
		return nil
	}
	switch {
	case strings.HasPrefix(strings.TrimSpace(text), "Sent = "):
		return p.counts(s, line, text)
	case len(words) == 9 && strings.HasSuffix(words[0], "s") && words[0] != "Avg":
		if row, ok := spans(words...); ok {
			return p.latency(s, line, row)
		}
	case strings.HasPrefix(text, "Running latency test: "):
		n, _, _ := strings.Cut(strings.TrimPrefix(text, "Running latency test: "), ",")
		p.perRow, _ = count(n)
	case strings.Contains(text, " sec "):
		return p.consoleInterval(s, line, text)
	case strings.HasPrefix(text, "Protocol ") && strings.Contains(text, "Conn/s"):
		p.cps = []float64{}
	case strings.HasPrefix(text, "Protocol ") && strings.Contains(text, "Pkts/s"):
		p.pps = []float64{}
	}
	return nil
}

// consoleInterval reads "[    8]     TCP      000-001 sec      6.9G", the same
// with packets for UDP, and without a number for connections and packets. Of
// several connections only the sum counts.
func (p *ethrRun) consoleInterval(s *Source, line int, text string) error {
	id := ""
	if rest, found := strings.CutPrefix(text, "["); found {
		id, text, _ = strings.Cut(rest, "]")
		id = strings.TrimSpace(id)
	}
	before, after, _ := strings.Cut(text, " sec ")
	head, cells := strings.Fields(before), strings.Fields(after)
	if len(head) != 2 || len(cells) == 0 {
		return nil
	}
	from, _, _ := strings.Cut(head[1], "-")
	at, ok := count(from)
	if !ok || at > 1<<20 {
		return s.fail(line, "ingest.ethr.interval", measure.Figures{"text": short(head[1])})
	}
	bits, conns, packets := cells[0], "", ""
	if len(cells) > 1 {
		packets = cells[1]
	}
	if p.cps != nil {
		bits, conns = "", cells[0]
	}
	if id == "SUM" || id != "" && int(at) < len(p.bps) { // another connection of the same second
		v, _, ok := ethrFigure(bits)
		n, _, ok2 := ethrFigure(packets)
		if !ok || !ok2 {
			return s.fail(line, "ingest.number.figure", measure.Figures{"tool": "Ethr", "text": short(bits)})
		}
		last := len(p.bps) - 1
		switch {
		case last < 0:
			return p.interval(s, line, head[0], bits, conns, packets, "")
		case id == "SUM":
			p.bps[last] = v
		default:
			p.bps[last] += v
		}
		if packets != "" && len(p.pps) > last {
			if id == "SUM" {
				p.pps[last] = n
			} else {
				p.pps[last] += n
			}
		}
		return nil
	}
	return p.interval(s, line, head[0], bits, conns, packets, "")
}

func (p *ethrRun) interval(s *Source, line int, protocol, bits, conns, packets, remote string) error {
	p.protocol = protocol
	if remote != "" {
		p.remote = short(remote)
	}
	for _, f := range []struct {
		text string
		to   *[]float64
	}{{bits, &p.bps}, {conns, &p.cps}, {packets, &p.pps}} {
		v, there, ok := ethrFigure(f.text)
		if !ok {
			return s.fail(line, "ingest.number.figure", measure.Figures{"tool": "Ethr", "text": short(f.text)})
		}
		if there && (v > 0 || len(*f.to) > 0) {
			*f.to = append(*f.to, v)
		}
	}
	return nil
}

func (p *ethrRun) latency(s *Source, line int, row []float64) error {
	if row[1] > row[0] || row[0] > row[8] || !slices.IsSorted(row[1:]) {
		return s.fail(line, "ingest.ethr.order", nil)
	}
	p.rows = append(p.rows, row)
	return nil
}

// ethrSetup reads "[tcp] Connection from A to B: 951.485us" and "[icmp] Ping to
// A: 1.2ms"; it ignores lines of the warm-up and without a time.
func ethrSetup(text string) (protocol string, ns float64) {
	rest, isTCP := strings.CutPrefix(text, "[tcp] Connection ")
	rest2, isICMP := strings.CutPrefix(text, "[icmp] Ping to ")
	if isICMP {
		rest = rest2
	}
	i := strings.LastIndex(rest, ": ")
	if !isTCP && !isICMP || i < 0 {
		return "", 0
	}
	v, ok := span(rest[i+2:])
	switch {
	case !ok:
		return "", 0
	case isTCP:
		return "tcp", v
	}
	return "icmp", v
}

func (p *ethrRun) counts(s *Source, line int, text string) error {
	counts := map[string]*int64{"Sent": &p.sent, "Received": &p.got}
	for _, part := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		n, ok := count(value)
		if !ok {
			return s.fail(line, "ingest.number.count", measure.Figures{"tool": "Ethr", "text": short(part)})
		}
		if to := counts[strings.TrimSpace(name)]; to != nil {
			*to = n
		}
	}
	if p.got > p.sent {
		return s.fail(line, "ingest.counts", measure.Figures{"tool": "Ethr", "sent": p.sent, "received": p.got})
	}
	p.hasCounts = true
	return nil
}

func (p *ethrRun) result(version string, record int) *measure.Result {
	if version == "UNKNOWN" {
		version = ""
	}
	r := newReading(measure.TestTCP, "ethr", version, record, p.line)
	r.StartedAt = p.startedAt
	if p.startedAt.IsZero() {
		missing(r, finding.TimeOfFile)
	}
	missing(r, finding.NoOptions, finding.NoHostFacts, finding.NoBaseline)
	r.Path.Server.Name = p.target
	r.Origin.End = measure.EndClient
	if p.server {
		r.Origin.End = measure.EndServer
		r.Path.Client.Address = p.remote
	}
	if p.broken {
		r.Error = measure.Fail(measure.KindBroken, "ingest.ethr.terminated", nil)
	}
	switch {
	case p.route != nil:
		p.traced(r)
	case len(p.rows) > 0 && !p.hasCounts:
		p.roundTrips(r)
	case len(p.averages) > 0:
		p.averageTrips(r)
	case p.hasCounts || p.setups != nil:
		p.pings(r)
	case len(p.cps) > 0:
		p.connections(r)
	default:
		p.throughput(r)
	}
	return r
}

func (p *ethrRun) throughput(r *measure.Result) {
	f := emptyFlow(measure.Forward)
	r.Options.Direction = measure.Forward
	from, to := p.wholeSeconds()
	if p.protocol == "UDP" {
		r.Test = measure.TestUDP
		missing(r, finding.NoLoss)
		if len(p.pps) >= to && to > 0 {
			f.Summary.PacketsPerSecond = stats.Mean(p.pps[from:to])
		}
		if p.server {
			warn(r, finding.TestsUnmarked)
		}
	} else {
		missing(r, finding.NoRetransmits)
	}
	for i, v := range p.bps[from:to] {
		sample := measure.Sample{StartNs: int64(i) * 1e9, EndNs: int64(i+1) * 1e9}
		if p.server {
			sample.ReceivedBytes = int64(v / 8)
		} else {
			sample.SentBytes = int64(v / 8)
		}
		f.Samples = append(f.Samples, sample)
	}
	if to > from {
		f.Summary.GoodputBps = stats.Mean(p.bps[from:to])
	}
	f.Summary.DurationNs = seconds(float64(to - from))
	if p.server {
		missing(r, finding.NoSenderCount)
	} else {
		missing(r, finding.GoodputOfSender, finding.IntervalsOfSender)
	}
	missing(r, finding.RoundedFigures, finding.NoStreams)
	setFlows(r, f)
}

func (p *ethrRun) connections(r *measure.Result) {
	r.Test = measure.TestConnect
	r.Summary.ConnectionsPerSecond = stats.Mean(p.cps)
	r.Summary.DurationNs = seconds(float64(len(p.cps)))
	r.Connect = &measure.Connect{DurationNs: int64(r.Summary.DurationNs)}
	if p.server {
		r.Connect.AcceptedPerSecond = r.Summary.ConnectionsPerSecond
	} else {
		r.Connect.OpenedPerSecond = r.Summary.ConnectionsPerSecond
	}
	missing(r, finding.RoundedFigures, finding.NoHistogram)
}

// roundTrips combines rows of the same number of round trips: minimum, maximum and mean apply
// to all together, percentiles do not.
func (p *ethrRun) roundTrips(r *measure.Result) {
	r.Test = measure.TestLatency
	r.Options.Own = latency.Options{Protocol: cmp.Or(strings.ToLower(p.protocol), "tcp"), Row: p.perRow}
	r.Latency = &measure.Latency{Timing: &measure.Timing{Tool: "Ethr"}}
	n := int64(len(p.rows)) * p.perRow
	r.Latency.Sent, r.Latency.Received = n, n
	f := ethrRTT(p.rows[0], n)
	var means []float64
	for _, v := range p.rows {
		means, *f.Min, *f.Max = append(means, v[0]), min(*f.Min, v[1]), max(*f.Max, v[8])
		row := measure.LatencyRow{RTT: measure.Percentiles{Mean: v[0], Min: v[1], P50: v[2], P90: v[3], P95: v[4], P99: v[5], P999: v[6], P9999: v[7], Max: v[8], Count: p.perRow}}
		r.Latency.Rows = append(r.Latency.Rows, row)
	}
	missing(r, finding.NoLoss)
	if len(p.rows) == 1 {
		missing(r, finding.NoHistogram)
	} else {
		f = &measure.RTTFigures{Mean: new(stats.Mean(means)), Min: f.Min, Max: f.Max, Count: n}
		missing(r, finding.PercentilesOfBlocks)
	}
	r.Summary.ReportedRTT = f
	if p.moved {
		warn(r, finding.PercentilesRenamed)
	}
}

// ethrRTT is a row as the figures of a result.
func ethrRTT(v []float64, count int64) *measure.RTTFigures {
	v = slices.Clone(v)
	return &measure.RTTFigures{Mean: &v[0], Min: &v[1], P50: &v[2], P90: &v[3], P95: &v[4], P99: &v[5], P999: &v[6], P9999: &v[7], Max: &v[8], Count: count}
}

// averageTrips is a latency test of which there is only the average that a server shows each
// second.
func (p *ethrRun) averageTrips(r *measure.Result) {
	r.Test = measure.TestLatency
	r.Options.Own = latency.Options{Protocol: cmp.Or(strings.ToLower(p.protocol), "tcp")}
	r.Latency = &measure.Latency{Timing: &measure.Timing{Tool: "Ethr"}}
	r.Summary.ReportedRTT = &measure.RTTFigures{Mean: new(stats.Mean(p.averages))}
	missing(r, finding.NoLoss, finding.NoHistogram, finding.NoPercentiles)
}

// pings makes a histogram of single times of set-ups or echoes.
func (p *ethrRun) pings(r *measure.Result) {
	r.Test = measure.TestConnect
	if p.icmp {
		r.Test = measure.TestPing
	}
	n := int64(0)
	if p.setups != nil {
		n = p.setups.Count()
	}
	sent, got := n, n
	if p.hasCounts {
		sent, got = p.sent, p.got
	} else {
		missing(r, finding.NoLoss)
	}
	r.Latency = &measure.Latency{Timing: &measure.Timing{Tool: "Ethr"}, Sent: sent, Received: got, Lost: sent - got}
	if r.Test == measure.TestConnect {
		r.Connect = &measure.Connect{Opened: got, Failed: sent - got}
	}
	if sent > 0 {
		r.Summary.LossRatio = new(float64(sent-got) / float64(sent))
	}
	if n > 0 && n == got {
		r.Latency.Histogram = p.setups
		r.Summary.RTT = p.setups.Percentiles()
	} else {
		missing(r, finding.NoHistogram)
	}
	if len(p.rows) == 1 {
		r.Summary.ReportedRTT = ethrRTT(p.rows[0], got)
	}
	missing(r, finding.NoIntervals)
}
