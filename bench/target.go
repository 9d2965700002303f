package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// target is a figure that soku must reach.
type target struct {
	text    string
	contest string // a contest's name, in which * matches any text
	metric  Metric
	own, to string // contenders to compare; to is empty for an absolute figure
	bound   float64
	atLeast bool
	by      comparison
}

// comparison is what of two contenders is compared.
type comparison int

const (
	byRatio      comparison = iota // of the metric
	byCPU                          // ratio of CPU times
	byDifference                   // of the metric
)

// firstPacketMost is the limit from exec to the first packet, milliseconds. People do not
// notice less, so code is not made more complex to be faster.
const firstPacketMost = 30

func targets() []target {
	var out []target
	add := func(text, contest string, m Metric, to string, bound float64, atLeast bool) {
		out = append(out, target{text: text, contest: contest, metric: m, own: sokuLabel, to: to, bound: bound, atLeast: atLeast})
	}
	for _, n := range []string{"1", "2", "8", "32"} {
		bound := 1.0
		if n == "1" || n == "8" {
			bound = 1.15
		}
		add("TCP discarded, "+n+" streams, ratio to iperf3 best", "tcp-discard-*-"+n, goodput, "iperf3 best", bound, true)
		out = append(out, target{"TCP discarded, " + n + " streams, -w 4M, ratio to iperf3 best -w 4M", "tcp-discard-*-" + n, goodput, sokuWide, "iperf3 best -w 4M", bound, true, byRatio})
		add("TCP discarded, "+n+" streams, ratio to the limit", "tcp-discard-*-"+n, goodput, limitLabel, 0.95, true)
		out = append(out, target{"CPU per GB, " + n + " streams, ratio to iperf3 best", "tcp-discard-*-" + n, goodput, sokuLabel, "iperf3 best", 0.8, false, byCPU})
		add("TCP discarded, other congestion control than cubic, "+n+" streams, ratio to iperf3 best", "tcp-congestion-*-"+n, goodput, "iperf3 best", 1, true)
		add("TCP copied, "+n+" streams, ratio to iperf3", "tcp-copied-loopback-"+n, goodput, "iperf3", 1, true)
	}
	for _, way := range []string{"soku -R", "soku --bidir"} {
		out = append(out, target{way + ", ratio to forward", "tcp-direction-loopback-*", goodput, way, sokuLabel, 0.9, true, byRatio})
	}
	for _, protocol := range []string{"tcp", "udp"} {
		for _, m := range []Metric{p50, p99, p999} {
			bound := 1.0
			if m == p999 {
				bound = 1.1
			}
			add("spinning "+protocol+" "+m.Unit+", ratio to sockperf", "latency-spinning-"+protocol, m, "sockperf", bound, false)
		}
		add("blocking "+protocol+" p50, ratio to sockperf", "latency-blocking-"+protocol, p50, "sockperf", 1, false)
		add("blocking "+protocol+" p50, ratio to netperf", "latency-blocking-"+protocol, p50, "netperf "+strings.ToUpper(protocol)+"_RR", 1, false)
	}
	for _, protocol := range []string{"tcp", "udp"} {
		add("open loop of 10,000/s "+protocol+": µs late p99", "latency-schedule-"+protocol, lateP99, "", 20, false)
	}
	for _, size := range []string{"64", "1400"} {
		add("UDP packets of "+size+" B, ratio to iperf3", "udp-pps-"+size, packetRate, "iperf3", 1.25, true)
		add("UDP trains of "+size+" B, ratio to iperf3 --gsro", "udp-gso-"+size, packetRate, "iperf3 --gsro", 1.1, true)
		out = append(out, target{"CPU per packet, trains of " + size + " B, ratio to iperf3 --gsro", "udp-gso-" + size, packetRate, sokuLabel, "iperf3 --gsro", 0.8, false, byCPU})
	}
	add("UDP at 1 Gbit/s: % off the rate", "udp-1gbit", rateError, "", 0.1, false)
	add("UDP at 1 Gbit/s: % lost", "udp-1gbit", lossRatio, "", 0, false)
	for _, n := range []string{"1", "16"} {
		add("connections/s, "+n+" at a time, ratio to Ethr", "connect-"+n, connectionRate, "ethr", 1.5, true)
	}
	add("connections/s, ratio to netperf TCP_CRR", "connect-1", connectionRate, "netperf TCP_CRR", 1.5, true)
	out = append(out, target{"sampling: % of a core at each end", "series-cost", coreShare, sokuLabel, withoutSeries, 1, false, byDifference})
	add("copy of one big file, ratio to cp", "copy-big-*", copyRate, "cp -a", 0.9, true)
	add("copy of 10,000 small files, ratio to rsync", "copy-small-*", copyRate, "rsync -a", 1, true)
	add("copy over 1 Gbit/s: % of the link's payload rate", "copy-link-*", linkShare, "", 95, true)
	add("copy over 1 Gbit/s, ratio to soku tcp", "copy-link-*", goodput, "soku tcp", 0.95, true)
	add("start-up: ms to the first packet", "startup", firstPacket, "", firstPacketMost, false)
	return out
}

// applies reports whether a target is about a contest.
func (t target) applies(contest string) bool {
	head, tail, star := strings.Cut(t.contest, "*")
	if !star {
		return t.contest == contest
	}
	return strings.HasPrefix(contest, head) && strings.HasSuffix(contest, tail)
}

// verdict is whether and how a target was met.
type verdict struct {
	figure     float64 // NaN if one side is missing
	from, to   float64 // in single rounds
	rounds     int     // number with both sides in one placement
	limit      float64 // the figure of the limit in place of soku; NaN if there is none
	word       string  // holds, missed, not measured
	atTheBound string  // the bound
}

// judge compares a target with standings of its contest.
func (t target) judge(s []standing) verdict {
	all := t.figures(s, t.own)
	v := verdict{figure: median(all), rounds: len(all), limit: math.NaN(), word: "not measured", atTheBound: fmt.Sprintf("<= %g", t.bound)}
	if t.atLeast {
		v.atTheBound = fmt.Sprintf(">= %g", t.bound)
	}
	if t.to != limitLabel {
		v.limit = median(t.figures(s, limitLabel))
	}
	if math.IsNaN(v.figure) || math.IsInf(v.figure, 0) {
		return v
	}
	v.from, v.to = slices.Min(all), slices.Max(all)
	v.word = "missed"
	if t.atLeast && v.figure >= t.bound || !t.atLeast && v.figure <= t.bound {
		v.word = "holds"
	}
	return v
}

// figures are a contender's figures by round.
func (t target) figures(s []standing, label string) []float64 {
	own, to := find(s, label), find(s, t.to)
	switch {
	case own == nil:
		return nil
	case t.to == "":
		return own.values
	case to == nil:
		return nil
	case t.by == byDifference:
		return differences(own.byRound, to.byRound)
	case t.by == byCPU:
		return ratios(own.cpuRound, to.cpuRound)
	}
	return ratios(own.byRound, to.byRound)
}

func find(s []standing, label string) *standing {
	for i := range s {
		if s[i].label == label {
			return &s[i]
		}
	}
	return nil
}
