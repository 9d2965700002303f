package ingest

import (
	"encoding/csv"
	"strings"

	"soku/internal/engine/latency"
	"soku/internal/measure"
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
		r, err := s.netperfRun(lines[i:end], len(out)+1, i+1)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
		i = end - 1
	}
	if len(out) == 0 {
		return nil, s.fail(1, "ingest.netperf.nothing", nil)
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
	missing(r, measure.CodeTimeOfFile, measure.CodeNoIntervals, measure.CodeNoOptions, measure.CodeNoHostFacts, measure.CodeNoBaseline)
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
			if key := netperfKey(name); key != "" {
				out[key] = strings.TrimSpace(rows[1][c])
			}
		}
		return out, nil
	}
	return out, nil
}

// netperfKey is the key that -k has for a column of -o.
func netperfKey(name string) string {
	switch strings.TrimSpace(name) {
	case "Throughput":
		return "THROUGHPUT"
	case "Throughput Units":
		return "THROUGHPUT_UNITS"
	case "Elapsed Time (sec)":
		return "ELAPSED_TIME"
	case "Protocol":
		return "PROTOCOL"
	case "Direction":
		return "DIRECTION"
	case "Minimum Latency Microseconds":
		return "MIN_LATENCY"
	case "Mean Latency Microseconds":
		return "MEAN_LATENCY"
	case "50th Percentile Latency Microseconds":
		return "P50_LATENCY"
	case "90th Percentile Latency Microseconds":
		return "P90_LATENCY"
	case "99th Percentile Latency Microseconds":
		return "P99_LATENCY"
	case "Maximum Latency Microseconds":
		return "MAX_LATENCY"
	case "Stddev Latency Microseconds":
		return "STDDEV_LATENCY"
	case "Local Bytes Sent":
		return "LOCAL_BYTES_SENT"
	case "Remote Bytes Received":
		return "REMOTE_BYTES_RECVD"
	case "Local Transport Retransmissions":
		return "LOCAL_TRANSPORT_RETRANS"
	}
	return ""
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
				*to = ptr(v * 1e3)
			}
		}
		return s.netperfRoundTrips(r, head, value, udp)
	}
	scale := netperfScale(units)
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
	if v, ok := get("LOCAL_TRANSPORT_RETRANS"); ok && !reverse {
		f.Retransmits = ptr(int64(v))
	}
	setFlows(r, r.Flows...)
	if r.Summary.Retransmits == nil && !udp {
		missing(r, measure.CodeNoRetransmits)
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

func netperfScale(units string) float64 {
	switch units {
	case "", "10^6bits/s", "10^6bits/sec":
		return 1e6
	case "10^3bits/s", "10^3bits/sec":
		return 1e3
	case "10^9bits/s", "10^9bits/sec":
		return 1e9
	case "KBytes/s":
		return 8 << 10
	case "MBytes/s":
		return 8 << 20
	case "GBytes/s":
		return 8 << 30
	case "bytes/s":
		return 8
	}
	return 0
}

// netperfRoundTrips computes round trips from transactions per second. One is in flight at a
// time unless there is a burst.
func (s *Source) netperfRoundTrips(r *measure.Result, head string, perSecond float64, udp bool) error {
	own := latency.Options{Protocol: "tcp"}
	if udp {
		own.Protocol = "udp"
	}
	r.Test, r.Options.Own = measure.TestLatency, own
	if r.Summary.ReportedRTT == nil {
		r.Summary.ReportedRTT = new(measure.RTTFigures)
	}
	f := r.Summary.ReportedRTT
	if f.Mean == nil {
		_, burst, hasBurst := strings.Cut(head, "first burst ")
		if hasBurst && strings.TrimSpace(burst) != "0" || perSecond <= 0 {
			return s.fail(r.Origin.Line, "ingest.netperf.bursts", nil)
		}
		f.Mean = ptr(1e9 / perSecond)
		missing(r, measure.CodeMeanComputed)
	}
	n := int64(perSecond * float64(r.Summary.DurationNs) / 1e9)
	f.Count = n
	missing(r, measure.CodeNoHistogram, measure.CodeNoLoss)
	if f.P50 == nil {
		missing(r, measure.CodeNoPercentiles)
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
	missing(r, measure.CodeNoHistogram, measure.CodeNoPercentiles)
	warn(r, measure.CodeConnectionsCarryRequest)
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
		missing(r, measure.CodeGoodputOfSender)
	}
	r.Options.Direction, r.Options.Streams = f.Direction, 1
	f.Summary.GoodputBps, f.Summary.DurationNs = bps, r.Summary.DurationNs
	setFlows(r, f)
}
