package verdict

import (
	"testing"

	"soku/internal/measure"
	"soku/internal/text"
)

func ofStreams(congestion string, rttNs int64, n int) *measure.Result {
	f := measure.Flow{Direction: measure.Forward, Summary: measure.Summary{GoodputBps: 95e6}}
	for range n {
		f.Streams = append(f.Streams, measure.Stream{TCP: &measure.TCPInfo{Congestion: congestion, MinRTTNs: rttNs}})
	}
	return &measure.Result{Test: measure.TestTCP, Flows: []measure.Flow{f}}
}

func TestARemedyFollowsFromTheLimitAndTheOptions(t *testing.T) {
	window := ofStreams("cubic", 20e6, 1)
	window.Options.Window = 64 << 10
	opened := &measure.Result{Test: measure.TestConnect}
	datagrams := &measure.Result{Test: measure.TestUDP, Flows: []measure.Flow{{Direction: measure.Forward, Streams: []measure.Stream{{}}}}}
	for _, c := range []struct {
		result *measure.Result
		rule   string
		limit  measure.Bottleneck
		code   string
		said   string
	}{
		{window, "window", measure.BottleneckReceiveWindow, "buffer_option", "-w 65.54 kB allows a stream 26.21 Mbit/s at a round trip of 20.00 ms: without -w the kernel chooses the size"},
		{ofStreams("cubic", 20e6, 1), "window", measure.BottleneckReceiveWindow, "receive_buffer", ""},
		{ofStreams("cubic", 20e6, 1), "sender_thread", measure.BottleneckSenderCPU, "one_stream", ""},
		{ofStreams("cubic", 20e6, 8), "sender_thread", measure.BottleneckSenderCPU, "sender_host", ""},
		{ofStreams("cubic", 20e6, 8), "softirq_receiver", measure.BottleneckReceiverCPU, "interrupts", ""},
		{ofStreams("cubic", 20e6, 8), "receiver_quota", measure.BottleneckReceiverCPU, "quota", ""},
		{ofStreams("cubic", 20e6, 1), "loss_by_chance", measure.BottleneckPathLoss, "tolerant_congestion", ""},
		{ofStreams("bbr", 20e6, 1), "loss_by_chance", measure.BottleneckPathLoss, "locate_loss", ""},
		{ofStreams("bbr", 20e6, 1), "queue", measure.BottleneckPathShaper, "known_limit", "compare 95.00 Mbit/s with the limit that the path should have (soku catalog has published ones)"},
		{datagrams, "udp_asked", measure.BottleneckApplication, "datagrams_asked", ""},
		{datagrams, "udp_loss", measure.BottleneckPathLoss, "locate_loss", ""},
		{opened, "connect_asked", measure.BottleneckApplication, "connections_asked", ""},
	} {
		m := remedyOf(c.result, &measure.Verdict{LimitedBy: c.limit, Confidence: measure.High, Rule: c.rule})
		if m == nil || m.Code != c.code {
			t.Errorf("%s: the remedy is %+v, want %s", c.rule, m, c.code)
		} else if said := text.English().Remedy(m); c.said != "" && said != c.said {
			t.Errorf("said %q, want %q", said, c.said)
		}
	}
}

func TestAVerdictThatIsNotSureHasNoRemedy(t *testing.T) {
	if m := remedyOf(ofStreams("cubic", 20e6, 1), &measure.Verdict{LimitedBy: measure.BottleneckPathLoss, Confidence: measure.Low}); m != nil {
		t.Errorf("%+v", m)
	}
}

func TestEveryLimitHasARemedyAndEveryRemedyHasWords(t *testing.T) {
	known := map[measure.Bottleneck]bool{measure.BottleneckNone: true}
	for _, m := range remedies {
		known[m.limit] = known[m.limit] || m.fits == nil
		r := &measure.Remedy{Code: m.code, Figures: measure.Figures{"window_bytes": 1, "rtt_ns": 1, "stream_bps": 1.0, "goodput_bps": 1.0, "thread_ratio": 1.0, "idle_processors": 1.0, "processors": 2}}
		if text.English().Remedy(r) == "" {
			t.Errorf("no words for %s", m.code)
		}
	}
	for _, r := range Rules {
		if !known[r.LimitedBy] {
			t.Errorf("nothing helps against %s of the rule %s", r.LimitedBy, r.Name)
		}
	}
}

func TestALimitByAThreadOfTheProgramIsNamedIfProcessorsAreIdle(t *testing.T) {
	// Of 100 ms, the busiest thread ran for run; each of four processors was busy for busy.
	receiving := func(run, busy int64) *measure.Result {
		columns := map[string]int64{"thread.busiest_ns": 95e6, "thread.busiest_run_ns": run}
		for _, cpu := range []string{"cpu0", "cpu1", "cpu2", "cpu3"} {
			columns[cpu+".user_ns"], columns[cpu+".softirq_ns"] = busy/2, busy/2
		}
		far := readings(columns)
		clear(far.Columns["cpu0.user_ns"][:10]) // it has yet to begin
		clear(far.Columns["thread.busiest_run_ns"][20:22])
		r := withSeries(ofStreams("cubic", 20e6, 16), readings(nil), far)
		r.Hosts.Server.Facts.CPUs = 4
		return r
	}
	reverse := receiving(92e6, 30e6)
	reverse.Flows[0].Direction = measure.Reverse
	reverse.Hosts.Client, reverse.Hosts.Server = reverse.Hosts.Server, reverse.Hosts.Client
	sentBack := receiving(92e6, 30e6)
	sentBack.Flows[0].Direction = measure.Reverse
	for name, c := range map[string]struct {
		result *measure.Result
		limit  measure.Bottleneck
		code   string
	}{
		"processors are idle":            {receiving(92e6, 30e6), measure.BottleneckReceiverCPU, "own_thread"},
		"all processors are busy":        {receiving(92e6, 95e6), measure.BottleneckReceiverCPU, "receiver_host"},
		"the thread waits for processor": {receiving(50e6, 30e6), measure.BottleneckReceiverCPU, "receiver_host"},
		"the other end":                  {receiving(92e6, 30e6), measure.BottleneckSenderCPU, "sender_host"},
		"the client receives":            {reverse, measure.BottleneckReceiverCPU, "own_thread"},
		"the server sends":               {sentBack, measure.BottleneckSenderCPU, "own_thread"},
	} {
		m := remedyOf(c.result, &measure.Verdict{LimitedBy: c.limit, Confidence: measure.Medium, Rule: "receiver_thread"})
		if m == nil || m.Code != c.code {
			t.Errorf("%s: the remedy is %+v, want %s", name, m, c.code)
			continue
		}
		want := "soku itself is the limit: its busiest thread there used 92 % of a processor while 2.8 of 4 were idle; a second test at the same time shows what more threads carry"
		if said := text.English().Remedy(m); c.code == "own_thread" && said != want {
			t.Errorf("%s: said %q, want %q", name, said, want)
		}
	}
	for _, c := range []struct {
		run, busy int64
		code      string
	}{{81e6, 30e6, "own_thread"}, {79e6, 30e6, "receiver_host"}, {92e6, 74e6, "own_thread"}, {92e6, 76e6, "receiver_host"}} {
		m := remedyOf(receiving(c.run, c.busy), &measure.Verdict{LimitedBy: measure.BottleneckReceiverCPU, Confidence: measure.Medium, Rule: "receiver_thread"})
		if m == nil || m.Code != c.code {
			t.Errorf("%+v: the remedy is %+v", c, m)
		}
	}
	unknown := withSeries(receiving(92e6, 30e6), readings(nil), readings(map[string]int64{"thread.busiest_ns": 95e6, "thread.busiest_run_ns": 92e6}))
	unknown.Hosts.Server.Facts.CPUs = 4
	if m := remedyOf(unknown, &measure.Verdict{LimitedBy: measure.BottleneckReceiverCPU, Confidence: measure.Medium, Rule: "receiver_thread"}); m == nil || m.Code != "receiver_host" {
		t.Errorf("without the processors' time the remedy is %+v", m)
	}
}

func TestAReceiverOfTheProgramThatSleepsBeforeAFullSocketIsNamed(t *testing.T) {
	// Of 100 ms, the busiest thread of the receiver ran or waited for a processor for busy. A quota stopped
	// it in the first throttled of 40 intervals.
	late := func(busy int64, throttled int, queue int64, change func(*measure.Result)) *measure.Result {
		receiver := readings(map[string]int64{
			"thread.busiest_ns": busy, "thread.busiest_run_ns": busy / 2, "cgroup.periods": 1, "cgroup.throttled_periods": 1, "cpu0.user_ns": 20e6, "cpu1.user_ns": 10e6,
			"forward.0.receive_queue_bytes": queue, "forward.0.receive_buffer_bytes": 1 << 20,
		})
		clear(receiver.Columns["cgroup.throttled_periods"][throttled:])
		r := ofStreams("cubic", 20e6, 1)
		r.Flows[0].Streams[0].ReceivedBytes, r.Flows[0].Summary.DurationNs = 50e6, 4e9
		withSeries(r, readings(map[string]int64{"thread.busiest_ns": 5e6, "forward.0.rtt_ns": 20e6}), receiver)
		r.Hosts.Server.Facts.CPUs = 2
		change(r)
		return r
	}
	asItIs := func(*measure.Result) {}
	for name, c := range map[string]struct {
		result *measure.Result
		code   string
	}{
		"it sleeps":                 {late(10e6, 0, 900<<10, asItIs), "own_sleep"},
		"it works":                  {late(45e6, 0, 900<<10, asItIs), "one_stream"},
		"a quota stops it":          {late(10e6, 40, 900<<10, asItIs), "quota"},
		"a quota stops it at times": {late(10e6, 10, 900<<10, asItIs), "one_stream"},
		"a buffer was set":          {late(10e6, 0, 900<<10, func(r *measure.Result) { r.Options.Window = 1 << 20 }), "one_stream"},
		"a rate was set":            {late(10e6, 0, 900<<10, func(r *measure.Result) { r.Options.Rate = 1e9 }), "one_stream"},
		"a path was set":            {late(10e6, 0, 900<<10, func(r *measure.Result) { r.Options.RX = "read" }), "one_stream"},
		"the socket is empty":       {late(10e6, 0, 0, asItIs), ""},
	} {
		v := Judge(c.result)
		if v.Remedy == nil && c.code == "" {
			continue
		}
		if v.Remedy == nil || v.Remedy.Code != c.code {
			t.Errorf("%s: the remedy of the rule %s is %+v, want %q", name, v.Rule, v.Remedy, c.code)
			continue
		}
		want := "soku itself is the limit: its receiver slept before a full socket; its busiest thread there ran or waited for a processor for 10 % of the time while 1.7 of 2 processors were idle"
		if said := text.English().Remedy(v.Remedy); c.code == "own_sleep" && said != want {
			t.Errorf("%s: said %q, want %q", name, said, want)
		}
	}
}
