package main

import (
	"fmt"
	"slices"
)

// Kinds of figures. A contest compares only programs that treat the payload in the same way.
const (
	kindDiscard = "payload discarded in the receiver's kernel"
	kindCopied  = "payload written and read by the programs, as an application does"
	kindBlock   = "round trips between programs that block until a message arrives"
	kindSpin    = "round trips between programs that spin"
	kindOpen    = "delay of requests against their schedule of 10,000 per second, both ends spinning"
	kindUDP     = "datagrams counted at the receiver"
	kindSeries  = "processor time of each end of a test that moves little, with and without the series of its hosts: the difference is what sampling takes"
	kindConnect = "connections opened and closed, one after another per stream"
	kindStart   = "time of a trial of one byte from exec to its first packet (the SYN of the session), seen by a relay between the ends; a run is the median of nine starts"
)

// contests are all contests, in the order of docs/performance.md.
func contests() []Contest {
	var out []Contest
	rate := []Metric{goodput}
	for _, place := range []string{"loopback", "veth1500", "veth9000"} {
		for _, n := range []int{1, 2, 8, 32} {
			out = append(out, Contest{fmt.Sprintf("tcp-discard-%s-%d", place, n), place, kindDiscard, rate, perGB, discarding(n)})
		}
	}
	others := []string{"bbr"}
	if name := defaultControl(); name != "cubic" && name != "bbr" {
		others = append(others, name)
	}
	out = append(out, sweeps(others, []int{1, 2, 8, 32})...)
	for _, n := range []int{1, 2, 8, 32} {
		out = append(out, Contest{fmt.Sprintf("tcp-copied-loopback-%d", n), "loopback", kindCopied, rate, perGB, copying(n)})
	}
	for _, n := range []int{1, 8} {
		out = append(out, Contest{fmt.Sprintf("tcp-ways-loopback-%d", n), "loopback", kindDiscard, rate, perGB, []Contender{
			sokuTCP(sokuLabel, n, "splice", "discard"),
			sokuTCP("soku --tx write", n, "write", "discard"),
			sokuTCP("soku --tx sendfile", n, "sendfile", "discard"),
			sokuTCP("soku --tx zerocopy", n, "zerocopy", "discard"),
		}})
	}
	for _, n := range []int{1, 8} {
		out = append(out, Contest{fmt.Sprintf("tcp-direction-loopback-%d", n), "loopback", kindDiscard, rate, perGB, []Contender{
			sokuTCP(sokuLabel, n, "splice", "discard"),
			sokuTCP("soku -R", n, "splice", "discard", "-R"),
			sokuTCP("soku --bidir", n, "splice", "discard", "--bidir"),
			iperf3TCP("iperf3 best --bidir", n, append(slices.Clone(iperf3Best), "--bidir")...),
		}})
	}
	for _, protocol := range []string{"tcp", "udp"} {
		out = append(out,
			Contest{"latency-blocking-" + protocol, "loopback", kindBlock, []Metric{p50, p99, p999, mean}, "", answering(protocol, false)},
			Contest{"latency-spinning-" + protocol, "loopback", kindSpin, []Metric{p50, p99, p999, mean}, "", answering(protocol, true)})
	}
	for _, protocol := range []string{"tcp", "udp"} {
		out = append(out, Contest{"latency-schedule-" + protocol, "loopback", kindOpen, []Metric{lateP50, lateP99, lateP999}, "", scheduling(protocol)})
	}
	packets := []Metric{packetRate, lossRatio}
	for _, size := range []int{64, 1400} {
		out = append(out,
			Contest{fmt.Sprintf("udp-pps-%d", size), "loopback", kindUDP, packets, perMillion, flooding(size, false)},
			Contest{fmt.Sprintf("udp-gso-%d", size), "loopback", kindUDP, packets, perMillion, flooding(size, true)})
	}
	out = append(out, Contest{"udp-1gbit", "loopback", kindUDP, []Metric{rateError, lossRatio}, "", []Contender{
		sokuUDP("-b", "1G", "-s", "1400"), iperf3UDP("iperf3", "-b", "1G", "-l", "1400"),
	}})
	for _, n := range []int{1, 16} {
		out = append(out, Contest{fmt.Sprintf("connect-%d", n), "loopback", kindConnect, []Metric{connectionRate}, "", connecting(n)})
	}
	out = append(out,
		Contest{"series-goodput-copied", "loopback", kindCopied, rate, "", sampling("tcp", "-C", "cubic", "--tx", "write", "--rx", "read", "-t", "500ms")},
		Contest{"series-goodput-discard", "loopback", kindDiscard, rate, "", sampling("tcp", "-C", "cubic", "--tx", "splice", "--rx", "discard", "-t", "500ms")},
		Contest{"series-cost", "loopback", kindSeries, []Metric{coreShare}, "", sampling("udp", "-b", "1M", "-t", "4s")})
	for _, medium := range []string{onTmpfs, onDisk} {
		rates := []Metric{copyRate, wall}
		out = append(out,
			Contest{"copy-big-" + medium, "loopback", "one file of 1 GiB copied from folder to folder", rates, "", localCopies(medium, bigFile)},
			Contest{"copy-small-" + medium, "loopback", "10,000 files of 16 KiB copied from folder to folder", rates, "", localCopies(medium, smallFiles)},
			Contest{"copy-link-" + medium, linkGbit, "a file of 500 MB copied by soku with checksums, and as many bytes from memory to memory", []Metric{linkShare, goodput}, "", linkCopies(medium, linkFile)})
	}
	return append(out, Contest{"startup", "loopback", kindStart, []Metric{firstPacket}, "", []Contender{starting(soku(sokuLabel, "tcp", "-C", "cubic", "-n", "1"))}})
}

// sokuWide is soku with fixed windows of 4 MiB, because the system's automatic windows vary
// between runs.
const sokuWide = "soku -w 4M"

// The fastest options of iperf3: no copy at either end, large calls.
var iperf3Best = []string{"-Z", "--skip-rx-copy", "-l", "1M"}

func discarding(n int) []Contender {
	return []Contender{
		sokuTCP(sokuLabel, n, "splice", "discard"),
		sokuTCP(sokuWide, n, "splice", "discard", "-w", "4M"),
		iperf3TCP("iperf3 best", n, iperf3Best...),
		iperf3TCP("iperf3 best -w 4M", n, append(slices.Clone(iperf3Best), "-w", "4M")...),
		limitStream(n, "tee", "discard"),
		limitWide(n),
	}
}

func copying(n int) []Contender {
	out := []Contender{
		sokuTCP(sokuLabel, n, "write", "read"),
		iperf3TCP("iperf3", n),
		limitStream(n, "write", "read"),
	}
	if n == 1 || n == 8 { // the others are much slower; this saves time
		out = append(out, streamPeers(n)...)
	}
	return out
}

func answering(protocol string, spin bool) []Contender {
	own := soku(sokuLabel, "latency", "-C", "cubic", "--protocol", protocol, "--spin="+onOff(spin))
	if protocol == "udp" {
		own = soku(sokuLabel, "latency", "--protocol", protocol, "--spin="+onOff(spin))
	}
	out := []Contender{own, sockperf(protocol, spin), limitRoundTrip(protocol, spin)}
	if spin {
		return out
	}
	out = append(out, netperfRR(protocol), qperf(protocol), neperRR(protocol))
	if protocol == "udp" {
		out = append(out, irtt())
	}
	return out
}

// withoutSeries is soku without the series of both hosts.
const withoutSeries = "soku --series off"

// sampling is soku with and without the series of both hosts; a round has one run of each, in
// random order.
func sampling(test string, options ...string) []Contender {
	return []Contender{soku(sokuLabel, test, options...), soku(withoutSeries, test, append(slices.Clone(options), "--series", "off")...)}
}

func scheduling(protocol string) []Contender {
	own := []string{"--protocol", protocol, "--spin=on", "--request-rate", "10000"}
	if protocol == "tcp" {
		own = append(own, "-C", "cubic")
	}
	return []Contender{soku(sokuLabel, "latency", own...), limitRoundTrip(protocol, true, "rate=10000")}
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

func flooding(size int, trains bool) []Contender {
	s := fmt.Sprint(size)
	if trains {
		return []Contender{
			sokuUDP("-b", "0", "-s", s, "--tx", "gso", "--rx", "gro"),
			iperf3UDP("iperf3 --gsro", "-b", "0", "-l", s, "--gsro"), limitFlood(size, true),
		}
	}
	return []Contender{
		sokuUDP("-b", "0", "-s", s, "--tx", "batch", "--rx", "batch"),
		iperf3UDP("iperf3", "-b", "0", "-l", s), limitFlood(size, false),
	}
}

func connecting(n int) []Contender {
	out := []Contender{soku(sokuLabel, "connect", "-P", fmt.Sprint(n)), limitConnect(n), ethr("c", connectionRate, n)}
	if n == 1 {
		out = append(out, netperf("netperf TCP_CRR", []string{"-t", "TCP_CRR"}, []string{"-o", "TRANSACTION_RATE"}, connectionRate.Name))
	}
	return out
}
