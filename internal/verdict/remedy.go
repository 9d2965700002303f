package verdict

import (
	"strings"

	"soku/internal/measure"
)

// remedy is what helps against a limit. The first of [remedies] that fits a verdict is given.
type remedy struct {
	limit   measure.Bottleneck
	code    string // verdict.remedy.CODE in the catalogue
	fits    func(c context) bool
	figures func(c context) measure.Figures
}

// context is what a remedy depends on.
type context struct {
	result  *measure.Result
	verdict *measure.Verdict
	flow    *measure.Flow // the one that the verdict is about, or nil
}

var remedies = []remedy{
	{measure.BottleneckSenderCPU, "quota", byRule("quota"), nil},
	{measure.BottleneckSenderCPU, "interrupts", byRule("softirq"), nil},
	{measure.BottleneckSenderCPU, "one_stream", oneStream, nil},
	{measure.BottleneckSenderCPU, "own_thread", ownThread, ownThreadFigures},
	{measure.BottleneckSenderCPU, "sender_host", nil, nil},
	{measure.BottleneckReceiverCPU, "quota", byRule("quota"), nil},
	{measure.BottleneckReceiverCPU, "interrupts", byRule("softirq"), nil},
	{measure.BottleneckReceiverCPU, "own_sleep", ownSleep, ownWaitFigures},
	{measure.BottleneckReceiverCPU, "one_stream", oneStream, nil},
	{measure.BottleneckReceiverCPU, "own_thread", ownThread, ownThreadFigures},
	{measure.BottleneckReceiverCPU, "receiver_host", nil, nil},
	{measure.BottleneckReceiveWindow, "buffer_option", bufferOption, bufferFigures},
	{measure.BottleneckReceiveWindow, "receive_buffer", nil, nil},
	{measure.BottleneckSendBuffer, "buffer_option", bufferOption, bufferFigures},
	{measure.BottleneckSendBuffer, "send_buffer", nil, nil},
	{measure.BottleneckApplication, "server_rate", ofServer, nil},
	{measure.BottleneckApplication, "connections_asked", ofTest(measure.TestConnect), nil},
	{measure.BottleneckApplication, "datagrams_asked", ofTest(measure.TestUDP), nil},
	{measure.BottleneckApplication, "rate_asked", nil, nil},
	{measure.BottleneckFlowCap, "more_flows", nil, nil},
	{measure.BottleneckFlowHashing, "uneven_flows", nil, nil},
	{measure.BottleneckPathShaper, "known_limit", nil, goodput},
	{measure.BottleneckPathPolicer, "below_policer", nil, goodput},
	{measure.BottleneckBurstAllowance, "lasting_rate", nil, nil},
	{measure.BottleneckCompetingTraffic, "other_times", nil, nil},
	{measure.BottleneckPathLoss, "tolerant_congestion", lossBased, nil},
	{measure.BottleneckPathLoss, "locate_loss", nil, nil},
	{measure.BottleneckMTU, "path_mtu", nil, nil},
	{measure.BottleneckPacketRate, "larger_packets", nil, nil},
	{measure.BottleneckConnectionRate, "fewer_connections", nil, nil},
	{measure.BottleneckServerOverload, "conntrack_table", byRule("conntrack"), nil},
	{measure.BottleneckServerOverload, "server_alone", nil, nil},
	{measure.BottleneckInstanceAllowance, "larger_machine", nil, nil},
	{measure.BottleneckDiskRead, "without_disk", nil, nil},
	{measure.BottleneckDiskWrite, "without_disk", nil, nil},
	{measure.BottleneckFileCost, "larger_files", nil, nil},
}

// remedyOf returns what helps against the limit of a verdict, or nil if the limit is not known
// well enough.
func remedyOf(r *measure.Result, v *measure.Verdict) *measure.Remedy {
	if v.Confidence == measure.Low {
		return nil
	}
	c := context{result: r, verdict: v}
	for i := range r.Flows {
		if f := &r.Flows[i]; v.Direction == "" || f.Direction == v.Direction {
			c.flow = f
			break
		}
	}
	for _, m := range remedies {
		if m.limit != v.LimitedBy || m.fits != nil && !m.fits(c) {
			continue
		}
		out := &measure.Remedy{Code: m.code}
		if m.figures != nil {
			out.Figures = m.figures(c)
		}
		return out
	}
	return nil
}

// byRule fits verdicts of rules whose name has this part.
func byRule(part string) func(context) bool {
	return func(c context) bool { return strings.Contains(c.verdict.Rule, part) }
}

func ofTest(t measure.Test) func(context) bool {
	return func(c context) bool { return c.result.Test == t }
}

// ofServer fits tests whose rate the server lowered.
func ofServer(c context) bool {
	return c.verdict.Rate != nil && c.verdict.Rate.Source == measure.RateOfServer
}

func oneStream(c context) bool {
	return c.result.Test == measure.TestTCP && c.flow != nil && len(c.flow.Streams) == 1
}

// ownThread fits limits by one thread of the program itself, on a host that has processors to
// spare.
func ownThread(c context) bool {
	f := ownThreadFigures(c)
	return f != nil && f["thread_ratio"].(float64) >= 0.8 && f["idle_processors"].(float64) >= 1
}

// ownSleep fits a full socket or a closed window whose reader neither ran nor waited for a processor,
// although no option and no quota made it slow.
func ownSleep(c context) bool {
	f, o := ownWaitFigures(c), c.result.Options
	host, where := limitingHost(c)
	throttled, _ := seriesOf(host, where).sum("cgroup.throttled_periods")
	return throttled == 0 && (c.verdict.Rule == "receiver_late" || c.verdict.Rule == "receiver_stalled") && o.Window == 0 && o.Rate == 0 && (o.RX == "" || o.RX == "auto") &&
		f != nil && f["thread_ratio"].(float64) < 0.3 && f["idle_processors"].(float64) >= 1
}

// ownThreadFigures are how much of a processor the busiest thread of the limiting end used, median
// over the intervals, and how many processors of its host were idle meanwhile, or nil if unknown.
func ownThreadFigures(c context) measure.Figures { return threadFigures(c, "thread.busiest_run_ns") }

// ownWaitFigures are the same with the time in which the thread waited for a processor.
func ownWaitFigures(c context) measure.Figures { return threadFigures(c, "thread.busiest_ns") }

// limitingHost returns the host whose program is the limit.
func limitingHost(c context) (*measure.Host, measure.Where) {
	reverse := c.flow != nil && c.flow.Direction == measure.Reverse
	if (c.verdict.LimitedBy == measure.BottleneckReceiverCPU) != reverse {
		return c.result.Hosts.Server, measure.AtServer
	}
	return c.result.Hosts.Client, measure.AtClient
}

func threadFigures(c context, key string) measure.Figures {
	host, where := limitingHost(c)
	s := seriesOf(host, where).late()
	run := s.shares(key)
	if len(run) == 0 || len(s.withPrefix("cpu", "_ns")) == 0 || host.Facts.CPUs == 0 {
		return nil
	}
	busy := 0.0
	for _, key := range s.withPrefix("cpu", "_ns") {
		ns, _ := s.sum(key)
		busy += ns / s.span()
	}
	return measure.Figures{"thread_ratio": median(run), "idle_processors": float64(host.Facts.CPUs) - busy, "processors": host.Facts.CPUs}
}

// bufferOption fits tests whose buffers the option window sets.
func bufferOption(c context) bool {
	return c.result.Options.Window > 0 && c.flow != nil && smallestRTT(c.flow) > 0
}

// bufferFigures are what a stream carries at most with the buffer that was set: one buffer in
// each round trip.
func bufferFigures(c context) measure.Figures {
	window, rtt := c.result.Options.Window, smallestRTT(c.flow)
	return measure.Figures{"window_bytes": int64(window), "rtt_ns": rtt, "stream_bps": float64(window) * 8e9 / float64(rtt)}
}

// smallestRTT returns the smallest round trip of a flow's streams, ns, or 0 if it is not known.
func smallestRTT(f *measure.Flow) (smallest int64) {
	for _, s := range f.Streams {
		if s.TCP != nil && s.TCP.MinRTTNs > 0 && (smallest == 0 || s.TCP.MinRTTNs < smallest) {
			smallest = s.TCP.MinRTTNs
		}
	}
	return smallest
}

func goodput(c context) measure.Figures {
	bps := c.result.Summary.GoodputBps
	if c.flow != nil {
		bps = c.flow.Summary.GoodputBps
	}
	return measure.Figures{"goodput_bps": bps}
}

// lossBased fits TCP whose congestion control takes a loss for a full queue.
func lossBased(c context) bool {
	if c.result.Test != measure.TestTCP || c.flow == nil {
		return false
	}
	for _, s := range c.flow.Streams {
		if s.TCP != nil && s.TCP.Congestion != "" {
			return s.TCP.Congestion != "bbr"
		}
	}
	return false
}
