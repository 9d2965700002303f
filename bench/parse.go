package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var errNoFigure = errors.New("its output holds no figure")

// keep drops figures that are not finite, positive numbers. An empty set is an error: a run
// that measured nothing is not a run that measured zero.
func keep(f Figures, zeroAllowed ...string) (Figures, error) {
	for k, v := range f {
		zero := v == 0
		for _, z := range zeroAllowed {
			if k == z {
				zero = false
			}
		}
		if zero || v < 0 || math.IsNaN(v) || math.IsInf(v, 0) {
			delete(f, k)
		}
	}
	for _, z := range zeroAllowed { // not enough by themselves
		if len(f) == 1 && f[z] == 0 {
			delete(f, z)
		}
	}
	if len(f) == 0 {
		return nil, errNoFigure
	}
	return f, nil
}

// parseSoku reads a result document. The rate is over the whole trial, as with the peers,
// not over the steady part that soku reports.
func parseSoku(client, _ string) (Figures, error) {
	type end struct {
		Counters struct {
			Cores float64 `json:"cores_used"`
		} `json:"counters"`
	}
	var doc struct {
		Hosts struct {
			Client end `json:"client"`
			Server end `json:"server"`
		} `json:"hosts"`
		Latency struct {
			Arrivals *struct {
				Late map[string]float64 `json:"send_error_ns"`
			} `json:"arrivals"`
		} `json:"latency"`
		Summary struct {
			Bytes     float64             `json:"received_bytes"`
			NS        float64             `json:"duration_ns"`
			Packets   float64             `json:"packets_received"`
			Loss      float64             `json:"loss_ratio"`
			PerSecond float64             `json:"connections_per_second"`
			RTT       *map[string]float64 `json:"rtt_ns"`
			Program   *map[string]float64 `json:"application_rtt_ns"`
		} `json:"summary"`
	}
	if err := json.Unmarshal([]byte(client), &doc); err != nil {
		return nil, err
	}
	s := doc.Summary
	f := Figures{goodput.Name: s.Bytes * 8 / s.NS, coreShare.Name: 50 * (doc.Hosts.Client.Counters.Cores + doc.Hosts.Server.Counters.Cores)}
	rtt := s.RTT
	if s.Program != nil {
		rtt = s.Program
	}
	if rtt != nil {
		f = percentiles(*rtt, p50, p99, p999)
		if a := doc.Latency.Arrivals; a != nil {
			maps.Copy(f, percentiles(a.Late, lateP50, lateP99, lateP999))
		}
	} else if s.Packets > 0 {
		f[packetRate.Name] = s.Packets / s.NS * 1e9
		f[lossRatio.Name] = s.Loss * 100
		f[rateError.Name] = math.Abs(f[goodput.Name]-1) * 100
	}
	f[connectionRate.Name] = s.PerSecond
	return keep(f, lossRatio.Name, rateError.Name)
}

// percentiles converts percentiles of a result, ns, to figures in µs.
func percentiles(ns map[string]float64, half, most, nearlyAll Metric) Figures {
	return Figures{half.Name: ns["p50"] / 1e3, most.Name: ns["p99"] / 1e3, nearlyAll.Name: ns["p99_9"] / 1e3}
}

// parseIperf3 reads -J. Rates are the receiver's; both directions are added.
func parseIperf3(client, _ string) (Figures, error) {
	type sum struct {
		Bits    float64 `json:"bits_per_second"`
		Seconds float64 `json:"seconds"`
		Packets float64 `json:"packets"`
		Lost    float64 `json:"lost_packets"`
	}
	var doc struct {
		Error string `json:"error"`
		End   struct {
			Received sum  `json:"sum_received"`
			Reverse  *sum `json:"sum_received_bidir_reverse"`
		} `json:"end"`
	}
	if err := json.Unmarshal([]byte(client), &doc); err != nil {
		return nil, err
	}
	if doc.Error != "" {
		return nil, errors.New(doc.Error)
	}
	r := doc.End.Received
	f := Figures{goodput.Name: r.Bits / 1e9}
	if doc.End.Reverse != nil {
		f[goodput.Name] += doc.End.Reverse.Bits / 1e9
	}
	if r.Packets > 0 {
		f[packetRate.Name] = (r.Packets - r.Lost) / r.Seconds
		f[lossRatio.Name] = r.Lost / r.Packets * 100
		f[rateError.Name] = math.Abs(r.Bits/1e9-1) * 100
	}
	return keep(f, lossRatio.Name, rateError.Name)
}

var pairs = regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_.]*)=\s*(-?[0-9.]+)`)

// fields reads key=value words, which the reference programs, nuttcp and neper print.
func fields(text string) map[string]float64 {
	out := map[string]float64{}
	for _, m := range pairs.FindAllStringSubmatch(text, -1) {
		if v, err := strconv.ParseFloat(m[2], 64); err == nil {
			out[m[1]] = v
		}
	}
	return out
}

// parseLimit reads the output of the programs of bench/limit; the server counts streams and
// packets.
func parseLimit(client, server string) (Figures, error) {
	c, s := fields(client), fields(server)
	f := Figures{
		goodput.Name:        s["bytes"] * 8 / s["ns"],
		packetRate.Name:     s["packets"] / s["ns"] * 1e9,
		connectionRate.Name: c["connections"] / c["ns"] * 1e9,
	}
	half, most, nearlyAll := p50, p99, p999
	if c["late"] != 0 {
		half, most, nearlyAll = lateP50, lateP99, lateP999
	}
	maps.Copy(f, percentiles(map[string]float64{"p50": c["p50_ns"], "p99": c["p99_ns"], "p99_9": c["p999_ns"]}, half, most, nearlyAll))
	return keep(f)
}

// parseIperf2 adds the streams of -y C: with several, a last line with id -1 is
// their sum.
func parseIperf2(client, _ string) (Figures, error) {
	total := 0.0
	for line := range strings.Lines(client) {
		c := strings.Split(strings.TrimSpace(line), ",")
		if len(c) < 9 {
			continue
		}
		bits, err := strconv.ParseFloat(c[8], 64)
		if err != nil {
			return nil, err
		}
		if c[5] == "-1" {
			total = bits
			break
		}
		total += bits
	}
	return keep(Figures{goodput.Name: total / 1e9})
}

func parseNuttcp(client, _ string) (Figures, error) {
	return keep(Figures{goodput.Name: fields(client)["rate_Mbps"] / 1e3})
}

// parseNeper reads a stream (the receiver's rate, bit/s) or round trips (seconds).
func parseNeper(client, _ string) (Figures, error) {
	f := fields(client)
	return keep(Figures{
		goodput.Name: f["remote_throughput"] / 1e9,
		p50.Name:     f["latency_p50"] * 1e6, p99.Name: f["latency_p99"] * 1e6, p999.Name: f["latency_p99.9"] * 1e6,
	})
}

var sockperfPercentile = regexp.MustCompile(`percentile\s+([0-9.]+)\s*=\s*([0-9.]+)`)

func parseSockperf(client, _ string) (Figures, error) {
	f, names := Figures{}, map[float64]string{50: p50.Name, 99: p99.Name, 99.9: p999.Name}
	for _, m := range sockperfPercentile.FindAllStringSubmatch(client, -1) {
		which, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return nil, err
		}
		v, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return nil, err
		}
		if name := names[which]; name != "" {
			f[name] = v
		}
	}
	return keep(f)
}

// parseNetperf reads the values of -o in the order in which contests request them.
func parseNetperf(names ...string) func(string, string) (Figures, error) {
	return func(client, _ string) (Figures, error) {
		f := Figures{}
		line := strings.Split(strings.TrimSpace(client), "\n")
		values := strings.Split(line[len(line)-1], ",")
		for i, name := range names {
			if i >= len(values) {
				break
			}
			v, err := strconv.ParseFloat(strings.TrimSpace(values[i]), 64)
			if err != nil {
				return nil, fmt.Errorf("%w: %.80s", errNoFigure, client)
			}
			if name == goodput.Name {
				v /= 1e3 // netperf prints 10^6 bit/s
			}
			f[name] = v
		}
		return keep(f)
	}
}

var (
	qperfLatency = regexp.MustCompile(`latency\s*=\s*([0-9.]+) (ns|us|ms)`)
	ntttcpRate   = regexp.MustCompile(`(?m)\sthroughput\t:([0-9.]+)([KMG]?)bps`)
	ethrRate     = regexp.MustCompile(`(?m)^\s*(?:\[\s*(?:\d+|SUM)\])?\s*TCP\s+\d+-\d+ sec\s+([0-9.]+)([KMG]?)\s*$`)
	ethrSum      = regexp.MustCompile(`(?m)^\s*\[\s*SUM\].*$`)
	scales       = map[string]float64{"": 1, "K": 1e3, "M": 1e6, "G": 1e9}
)

// parseQperf returns twice the mean: qperf's latency is half a round trip.
func parseQperf(client, _ string) (Figures, error) {
	m := qperfLatency.FindStringSubmatch(client)
	if m == nil {
		return nil, errNoFigure
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return nil, err
	}
	return keep(Figures{mean.Name: 2 * v * map[string]float64{"ns": 1e-3, "us": 1, "ms": 1e3}[m[2]]})
}

var irttRTT = regexp.MustCompile(`(?m)^\s*RTT\s+\S+\s+(\S+)\s+(\S+)\s`)

// parseIrtt reads the mean and the median of the summary's round trips.
func parseIrtt(client, _ string) (Figures, error) {
	m := irttRTT.FindStringSubmatch(client)
	if m == nil {
		return nil, errNoFigure
	}
	f := Figures{}
	for i, metric := range []Metric{mean, p50} {
		d, err := time.ParseDuration(m[i+1])
		if err != nil {
			return nil, err
		}
		f[metric.Name] = float64(d.Nanoseconds()) / 1e3
	}
	return keep(f)
}

func scaled(m []string, by float64) (float64, error) {
	if m == nil {
		return 0, errNoFigure
	}
	v, err := strconv.ParseFloat(m[1], 64)
	return v * scales[m[2]] / by, err
}

// parseNtttcp reads the receiver's total.
func parseNtttcp(_, server string) (Figures, error) {
	v, err := scaled(ntttcpRate.FindStringSubmatch(server), 1e9)
	if err != nil {
		return nil, err
	}
	return keep(Figures{goodput.Name: v})
}

// parseEthr returns the mean of the intervals, because Ethr prints only intervals.
func parseEthr(metric Metric) func(string, string) (Figures, error) {
	by := 1.0
	if metric.Name == goodput.Name {
		by = 1e9
	}
	return func(client, _ string) (Figures, error) {
		if sums := ethrSum.FindAllString(client, -1); len(sums) > 0 {
			client = strings.Join(sums, "\n") // of the streams above them
		}
		total, n := 0.0, 0
		for _, m := range ethrRate.FindAllStringSubmatch(client, -1) {
			v, err := scaled(m, by)
			if err != nil {
				return nil, err
			}
			total, n = total+v, n+1
		}
		return keep(Figures{metric.Name: total / float64(n)})
	}
}
