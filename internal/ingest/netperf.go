package ingest

import (
	"cmp"
	"encoding/csv"
	"strings"

	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// netperf reads the classic tables of netperf's TCP_STREAM, TCP_MAERTS,
// UDP_STREAM, TCP_RR, UDP_RR and TCP_CRR, and what its omni tests print with -k
// (KEY=value) and -o (a line of names and one of values).
func netperf(s *Source) ([]*measure.Result, error) {
	lines, err := s.lines()
	if err != nil {
		return nil, err
	}
	var out []*measure.Result
	for i := 0; i < len(lines); i++ {
		if !isNetperfHead(lines[i]) {
			continue
		}
		end := i + 1
		for end < len(lines) && !isNetperfHead(lines[end]) {
			end++
		}
		if len(out) == maxRecords {
			return nil, s.fail(i+1, "ingest.too_many.runs", measure.Figures{"tool": "netperf", "limit": maxRecords})
		}
		if s.reading = 0; end < len(lines) {
			s.reading = end + 1
		}
		r, err := s.netperfRun(lines[i:end], len(out)+1, i+1)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
		i = end - 1
	}
	return out, nil
}

func isNetperfHead(line string) bool {
	return strings.Contains(line, " TEST from ") && strings.Contains(line, " to ")
}

func (s *Source) netperfRun(lines []string, record, line int) (*measure.Result, error) {
	values, err := s.netperfValues(lines, line)
	if err != nil {
		return nil, err
	}
	r := newReading(measure.TestTCP, "netperf", "", record, line)
	missing(r, finding.TimeOfFile, finding.NoIntervals, finding.NoOptions, finding.NoHostFacts, finding.NoBaseline)
	head := lines[0]
	_, to, _ := strings.Cut(head, " to ")
	if words := strings.Fields(to); len(words) > 0 {
		r.Path.Server.Address = short(words[0])
	}
	if len(values) > 0 {
		return r, s.netperfOmni(r, head, values, line)
	}
	return r, s.netperfTable(r, head, lines, line)
}

// netperfValues returns the values of -k by key, or those of -o by the same keys, or nil if
// the lines are a classic table.
func (s *Source) netperfValues(lines []string, line int) (map[string]string, error) {
	out := map[string]string{}
	for i, text := range lines[1:] {
		if key, value, ok := strings.Cut(text, "="); ok && key == strings.ToUpper(key) && !strings.ContainsAny(key, " ,") {
			out[key] = strings.TrimSpace(value)
			continue
		}
		if !strings.Contains(text, ",") || len(out) > 0 || i+2 >= len(lines) {
			continue
		}
		rows, err := csv.NewReader(strings.NewReader(text + "\n" + lines[i+2])).ReadAll()
		if err != nil || len(rows) != 2 || len(rows[0]) != len(rows[1]) {
			return nil, s.fail(line+i+2, "ingest.netperf.values", nil)
		}
		for c, name := range rows[0] {
			if key := netperfKeys[strings.TrimSpace(name)]; key != "" {
				out[key] = strings.TrimSpace(rows[1][c])
			}
		}
		return out, nil
	}
	return out, nil
}

// netperfKeys are the keys that -k has for the columns of -o.
var netperfKeys = map[string]string{
	"Throughput": "THROUGHPUT", "Throughput Units": "THROUGHPUT_UNITS", "Elapsed Time (sec)": "ELAPSED_TIME",
	"Protocol": "PROTOCOL", "Direction": "DIRECTION",
	"Minimum Latency Microseconds": "MIN_LATENCY", "Mean Latency Microseconds": "MEAN_LATENCY",
	"Maximum Latency Microseconds": "MAX_LATENCY", "Stddev Latency Microseconds": "STDDEV_LATENCY",
	"50th Percentile Latency Microseconds": "P50_LATENCY",
	"90th Percentile Latency Microseconds": "P90_LATENCY",
	"99th Percentile Latency Microseconds": "P99_LATENCY",
	"Local Bytes Sent":                     "LOCAL_BYTES_SENT",
	"Remote Bytes Received":                "REMOTE_BYTES_RECVD",
	"Local Transport Retransmissions":      "LOCAL_TRANSPORT_RETRANS",
}

func (s *Source) netperfOmni(r *measure.Result, head string, values map[string]string, line int) error {
	get := func(key string) (float64, bool) { return number(values[key]) }
	value, ok := get("THROUGHPUT")
	if !ok {
		return s.fail(line, "ingest.netperf.throughput", nil)
	}
	if t, ok := get("ELAPSED_TIME"); ok && t < 1e6 {
		r.Summary.DurationNs = seconds(t)
	}
	udp := values["PROTOCOL"] == "UDP" || strings.Contains(head, "UDP ")
	units := values["THROUGHPUT_UNITS"]
	if units == "" && strings.Contains(head, "REQUEST/RESPONSE") {
		units = "Trans/s"
	}
	if units == "Trans/s" {
		if strings.Contains(head, "Connect/") {
			return s.netperfConnects(r, value, line)
		}
		for key, to := range netperfLatencies(r) {
			if v, ok := get(key); ok {
				*to = new(v * 1e3)
			}
		}
		return s.netperfRoundTrips(r, head, value, udp)
	}
	scale := netperfScales[cmp.Or(units, "10^6bits/s")]
	if scale == 0 {
		return s.fail(line, "ingest.netperf.units", measure.Figures{"units": short(units)})
	}
	reverse := values["DIRECTION"] == "Recv" || strings.Contains(head, "MAERTS")
	s.netperfStream(r, value*scale, reverse, udp)
	f := &r.Flows[0].Summary
	if v, ok := get("LOCAL_BYTES_SENT"); ok && !reverse {
		f.SentBytes = int64(v)
	}
	if v, ok := get("REMOTE_BYTES_RECVD"); ok && !reverse && v > 0 {
		f.ReceivedBytes = int64(v)
	}
	if moved := cmp.Or(f.ReceivedBytes, f.SentBytes); moved > 0 && (!udp || f.ReceivedBytes > 0) {
		bps, how := bestRate(f.GoodputBps, lastDigit(values["THROUGHPUT"])/2*scale, float64(moved), 0, f.DurationNs.Std().Seconds(), lastDigit(values["ELAPSED_TIME"])/2)
		f.GoodputBps = bps
		how.note(r, bps)
	}
	if v, ok := get("LOCAL_TRANSPORT_RETRANS"); ok && !reverse {
		f.Retransmits = new(int64(v))
	}
	setFlows(r, r.Flows...)
	if r.Summary.Retransmits == nil && !udp {
		missing(r, finding.NoRetransmits)
	}
	return nil
}

func netperfLatencies(r *measure.Result) map[string]**float64 {
	r.Summary.ReportedRTT = new(measure.RTTFigures)
	f := r.Summary.ReportedRTT
	return map[string]**float64{
		"MIN_LATENCY": &f.Min, "MEAN_LATENCY": &f.Mean, "P50_LATENCY": &f.P50, "P90_LATENCY": &f.P90,
		"P99_LATENCY": &f.P99, "MAX_LATENCY": &f.Max, "STDDEV_LATENCY": &f.StdDev,
	}
}

// netperfScales are the units of a rate in bit/s.
var netperfScales = map[string]float64{
	"10^3bits/s": 1e3, "10^6bits/s": 1e6, "10^9bits/s": 1e9,
	"10^3bits/sec": 1e3, "10^6bits/sec": 1e6, "10^9bits/sec": 1e9,
	"bytes/s": 8, "KBytes/s": 8 << 10, "MBytes/s": 8 << 20, "GBytes/s": 8 << 30,
}

// netperfRoundTrips computes round trips from transactions per second. One is in flight at a
// time unless there is a burst.
func (s *Source) netperfRoundTrips(r *measure.Result, head string, perSecond float64, udp bool) error {
	own := latency.Options{Protocol: "tcp"}
	if udp {
		own.Protocol = "udp"
	}
	r.Test, r.Options.Own = measure.TestLatency, own
	r.Summary.ReportedRTT = cmp.Or(r.Summary.ReportedRTT, new(measure.RTTFigures))
	f := r.Summary.ReportedRTT
	if f.Mean == nil {
		_, burst, hasBurst := strings.Cut(head, "first burst ")
		if hasBurst && strings.TrimSpace(burst) != "0" || perSecond <= 0 {
			return s.fail(r.Origin.Line, "ingest.netperf.bursts", nil)
		}
		f.Mean = new(1e9 / perSecond)
		missing(r, finding.MeanComputed)
	}
	n := int64(perSecond * float64(r.Summary.DurationNs) / 1e9)
	f.Count = n
	missing(r, finding.NoHistogram, finding.NoLoss)
	if f.P50 == nil {
		missing(r, finding.NoPercentiles)
	}
	r.Latency = &measure.Latency{Timing: &measure.Timing{Tool: "netperf"}, Sent: n, Received: n}
	return nil
}

func (s *Source) netperfConnects(r *measure.Result, perSecond float64, line int) error {
	if !plausible(perSecond) {
		return s.fail(line, "ingest.netperf.rate", nil)
	}
	r.Test = measure.TestConnect
	r.Summary.ConnectionsPerSecond = perSecond
	r.Connect = &measure.Connect{OpenedPerSecond: perSecond, DurationNs: int64(r.Summary.DurationNs)}
	missing(r, finding.NoHistogram, finding.NoPercentiles)
	warn(r, finding.ConnectionsCarryRequest)
	return nil
}

// netperfStream makes a flow. Which end counted depends on netperf's test: for TCP_STREAM it
// prints the sender's figure.
func (s *Source) netperfStream(r *measure.Result, bps float64, reverse, udp bool) {
	f := emptyFlow(measure.Forward)
	if udp {
		r.Test = measure.TestUDP
	}
	if reverse {
		f.Direction, r.Path.Direction = measure.Reverse, measure.Reverse
	} else {
		missing(r, finding.GoodputOfSender)
	}
	r.Options.Direction, r.Options.Streams = f.Direction, 1
	f.Summary.GoodputBps, f.Summary.DurationNs = bps, r.Summary.DurationNs
	setFlows(r, f)
}

// netperfTable reads a classic table: lines of names, then lines of numbers.
func (s *Source) netperfTable(r *measure.Result, head string, lines []string, line int) error {
	var rows [][]float64
	scale := 0.0
	for _, text := range lines[1:] {
		for _, word := range strings.Fields(text) {
			if f := netperfScales[word]; f > 0 {
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
		missing(r, finding.NoRetransmits)
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
	const secondDecimal = 0.005
	bps, how := bestRate(got[3]*scale, secondDecimal*scale, sent[1]*got[2], 0, got[1], secondDecimal)
	how.note(r, bps)
	f.Summary = measure.Summary{GoodputBps: bps, DurationNs: seconds(sent[2])}
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
