package verdict

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
)

// readings are 41 readings of a host every 100 ms: of each column the same value an interval.
func readings(columns map[string]int64) measure.SeriesValues {
	v := measure.SeriesValues{Columns: map[string][]int64{}}
	for i := range int64(41) {
		v.AtNs = append(v.AtNs, i*1e8)
	}
	for key, value := range columns {
		for range 40 {
			v.Columns[key] = append(v.Columns[key], value)
		}
	}
	return v
}

// transfer is a trial of 4 s with two TCP streams of 50 Mbit/s each.
func transfer() (r *measure.Result, sender, receiver measure.SeriesValues) {
	sender = readings(map[string]int64{
		"thread.busiest_ns": 2e7, "cgroup.periods": 1, "cgroup.throttled_periods": 0, "cpu0.softirq_ns": 1e7, "cpu1.softirq_ns": 3e7,
		"tcp.recoveries": 1, "interface.sent_bytes": 2_000_000, "interface.sent_packets": 1400,
		"control.rtt_ns": 16_359_375, "control.min_rtt_ns": 10e6, "control.retransmits": 0,
	})
	copy(sender.Columns["control.rtt_ns"], []int64{19e6, 18e6, 17_125_000}) // three round trips of 11 ms
	for _, stream := range []string{"forward.0.", "forward.1."} {
		for name, v := range map[string]int64{
			"sent_bytes": 650_000, "acked_bytes": 625_000, "segments_out": 450, "retransmits": 10, "dsacks": 1, "timeouts": 0,
			"unacked_bytes": 500_000, "notsent_bytes": 250_000, "cwnd_bytes": 600_000, "snd_wnd_bytes": 2_000_000, "rtt_ns": 15e6, "min_rtt_ns": 10e6,
			"mss_bytes": 1448, "pmtu_bytes": 1500, "busy_ns": 1e8, "rwnd_limited_ns": 1e7, "send_queue_bytes": 900_000, "send_buffer_bytes": 3_000_000,
		} {
			for range 40 {
				sender.Columns[stream+name] = append(sender.Columns[stream+name], v)
			}
		}
	}
	receiver = readings(map[string]int64{
		"thread.busiest_ns": 4e7, "interface.received_bytes": 1_350_000, "interface.received_packets": 900,
		"forward.0.receive_queue_bytes": 1000, "forward.0.receive_buffer_bytes": 4000, "forward.1.receive_queue_bytes": 1000, "forward.1.receive_buffer_bytes": 4000,
	})
	flow := measure.Flow{Direction: measure.Forward, Summary: measure.Summary{GoodputBps: 100e6, DurationNs: measure.Duration(4 * time.Second)}}
	for i := range 2 {
		flow.Streams = append(flow.Streams, measure.Stream{Index: i, ReceivedBytes: 25e6, TCP: &measure.TCPInfo{Congestion: "cubic", CwndSegments: 400, SsthreshSegs: 300, Retransmits: 400, MinRTTNs: 10e6}})
	}
	for i := range int64(40) {
		flow.Samples = append(flow.Samples, measure.Sample{StartNs: i * 1e8, EndNs: (i + 1) * 1e8, ReceivedBytes: 1_250_000})
	}
	r = &measure.Result{
		Test: measure.TestTCP, Flows: []measure.Flow{flow}, Summary: flow.Summary,
		Options: measure.Options{Direction: measure.Forward, Streams: 2, Duration: measure.Duration(4 * time.Second), Rate: 200e6},
	}
	return r, sender, receiver
}

func withSeries(r *measure.Result, client, server measure.SeriesValues) *measure.Result {
	r.Hosts = measure.Hosts{
		Client: &measure.Host{Counters: &measure.Counters{}, Series: measure.NewSeries(client)},
		Server: &measure.Host{Counters: &measure.Counters{Shared: true}, Series: measure.NewSeries(server)},
	}
	return r
}

func wantFigures(t *testing.T, f *Figures, want example) {
	t.Helper()
	for key, v := range want {
		got, known := f.Value(key)
		if !known || math.Abs(got-v) > 1e-9+math.Abs(v)*1e-9 {
			t.Errorf("%s is %v (known: %v), want %v", key, got, known, v)
		}
	}
}

func TestFiguresOfATransfer(t *testing.T) {
	r, sender, receiver := transfer()
	f := FiguresOf(withSeries(r, sender, receiver), measure.Forward)
	wantFigures(t, f, example{
		Streams: 2, AskedRatio: 0.5, SenderThread: 0.2, ReceiverThread: 0.4, SenderThrottled: 0, SenderSoftirq: 0.3, ReceiverShared: 1,
		WindowUsed: 0.25, CwndUsed: 5.0 / 6, UnsentTimes: 0.5, SendBufferUsed: 0.3, ReceiveBufferUsed: 0.25, RwndLimited: 0.1, SndbufLimited: 0,
		LossRatio: 18.0 / 900, Recoveries: 40, LossesPerRecovery: 18, LossVariance: 0, Timeouts: 0,
		LossBurst: 18 / (1 + 0.02*625_000/1448*0.15), // of 625 kB in 100 ms, 15 ms are a round trip Acknowledged: 50e6, SegmentRatio: 1,
		RTTTimes:  1.5, QueueNs: 5e6, ControlRTTTimes: 1.1, ControlQueue: 1e6, BesideRatio: 0.2, RTTSpread: 0, Jain: 1, GoodputSpread: 0, Retransmits: 800, SlowStart: 0,
		// 1.3 MB of 2 MB are the test's payload, and 2.5 kB in 100 ms may be anybody's.
		OtherTraffic: (2e6 - 1.3e6*(1+tcpOverhead) - 2.5e3) / 2e6,
	})
	if e := f.readings[SenderSoftirq]; e.detail != "cpu1" || e.where != measure.AtClient {
		t.Errorf("the busiest processor is %q at %q", e.detail, e.where)
	}
	for _, key := range []Key{ListenDrops, SocketDrops, AllowanceRatio, DatagramBytes} {
		if v, known := f.Value(key); known {
			t.Errorf("%s is %v, and this trial does not have it", key, v)
		}
	}
}

func TestInReverseTheServerSends(t *testing.T) {
	r, sender, receiver := transfer()
	for _, s := range []measure.SeriesValues{sender, receiver} {
		for key, column := range s.Columns {
			if len(key) > 8 && key[:8] == "forward." {
				delete(s.Columns, key)
				s.Columns["reverse."+key[8:]] = column
			}
		}
	}
	r.Flows[0].Direction, r.Options.Direction = measure.Reverse, measure.Reverse
	f := FiguresOf(withSeries(r, receiver, sender), measure.Reverse)
	wantFigures(t, f, example{SenderThread: 0.2, ReceiverThread: 0.4, ReceiverShared: 0, RTTTimes: 1.5, ReceiveBufferUsed: 0.25})
	if at := f.readings[RTTTimes].where; at != measure.AtServer {
		t.Errorf("the round trips were read at %q", at)
	}
}

// What was before the first byte and after the last one is not of the transfer.
func TestOnlyTheTimeOfTheTransferCounts(t *testing.T) {
	r, sender, receiver := transfer()
	for i := range 40 {
		if i < 10 || i >= 30 {
			for _, key := range []string{"segments_out", "sent_bytes", "acked_bytes"} {
				sender.Columns["forward.0."+key][i], sender.Columns["forward.1."+key][i] = 0, 0
			}
			sender.Columns["thread.busiest_ns"][i], receiver.Columns["thread.busiest_ns"][i] = 0, 1e8
		}
	}
	wantFigures(t, FiguresOf(withSeries(r, sender, receiver), measure.Forward), example{SenderThread: 0.2, ReceiverThread: 0.4, Acknowledged: 25e6})
}

// A gateway may lower the segment size of every connection that is opened through it.
func TestOnlyASegmentSizeThatFallsIsAHole(t *testing.T) {
	r, sender, receiver := transfer()
	for _, stream := range []string{"forward.0.", "forward.1."} {
		sender.Columns[stream+"mss_bytes"] = slicesOf(1300)
	}
	wantFigures(t, FiguresOf(withSeries(r, sender, receiver), measure.Forward), example{SegmentRatio: 1})
	for i := 5; i < 40; i++ {
		sender.Columns["forward.1.mss_bytes"][i] = 650
	}
	wantFigures(t, FiguresOf(withSeries(r, sender, receiver), measure.Forward), example{SegmentRatio: 0.5})
}

// The kernel counts the recoveries of all streams; the series has the first eight.
func TestLossesPerRecoveryAreThoseOfAllStreams(t *testing.T) {
	r, sender, receiver := transfer()
	for i := 2; i < 8; i++ {
		s := r.Flows[0].Streams[0]
		s.Index = i
		r.Flows[0].Streams = append(r.Flows[0].Streams, s)
	}
	wantFigures(t, FiguresOf(withSeries(r, sender, receiver), measure.Forward), example{LossRatio: 0.02, LossesPerRecovery: 4 * 18})
}

// The acknowledgements of a fast direction are much of the bytes of a slow one.
func TestAcknowledgementsOfTheOtherDirectionAreNoOtherTraffic(t *testing.T) {
	r, sender, receiver := transfer()
	back := r.Flows[0]
	back.Direction, back.Summary.ReceivedBytes = measure.Reverse, 400e6
	r.Flows, r.Options.Direction = append(r.Flows, back), measure.Bidirectional
	wantFigures(t, FiguresOf(withSeries(r, sender, receiver), measure.Forward), example{
		OtherTraffic: max(2e6-1.3e6*(1+tcpOverhead)-2.5e3-400e6*tcpOverhead/40, 0) / 2e6,
	})
}

// On a busy host readings come late: the receiver's last one also has what arrived after those of
// the sender.
func TestALateReadingHasNoOtherTraffic(t *testing.T) {
	r, sender, receiver := transfer()
	first := func(v *measure.SeriesValues, n int) {
		v.AtNs = v.AtNs[:n+1]
		for key := range v.Columns {
			v.Columns[key] = v.Columns[key][:n]
		}
	}
	first(&sender, 3)
	first(&receiver, 2)
	receiver.AtNs[2] = 470e6
	sender.Columns["interface.sent_bytes"] = []int64{1_400_000, 1_400_000, 1_400_000}
	receiver.Columns["interface.received_bytes"] = []int64{1_320_000, 1_320_000 * 37 / 10}
	for i := range r.Flows[0].Streams {
		r.Flows[0].Streams[i].ReceivedBytes = 625_000 * 47 / 10
	}
	wantFigures(t, FiguresOf(withSeries(r, sender, receiver), measure.Forward), example{
		OtherTraffic: (1.4e6 - 1.3e6*(1+tcpOverhead) - 2.5e3) / 1.4e6,
	})
}

// Only the first streams have columns. Where they receive much of their bytes after the time, their
// part in it says little of the others.
func TestStreamsWithoutColumnsAreNoOtherTraffic(t *testing.T) {
	r, sender, receiver := transfer()
	flow := &r.Flows[0]
	flow.Streams = append(flow.Streams, flow.Streams...)
	for i, received := range []int64{40e6, 40e6, 10e6, 10e6} {
		flow.Streams[i].ReceivedBytes = received
	}
	for i := range 40 {
		sender.Columns["interface.sent_bytes"][i], receiver.Columns["interface.received_bytes"][i] = 1_700_000, 2_600_000
	}
	wantFigures(t, FiguresOf(withSeries(r, sender, receiver), measure.Forward), example{
		OtherTraffic: 0,
	})
}

func TestALoopbackInterfaceHasNoOtherTraffic(t *testing.T) {
	r, sender, receiver := transfer()
	withSeries(r, sender, receiver)
	r.Hosts.Client.Facts.Interface, r.Hosts.Server.Facts.Interface = "lo", "lo"
	if v, known := FiguresOf(r, measure.Forward).Value(OtherTraffic); known {
		t.Errorf("%v of the loopback interface is other traffic, which has both directions of the test in one count", v)
	}
}

// An iperf3 server reports how many segments it sent again, and nothing of its windows.
func TestRetransmitsAloneDoNotShowSlowStart(t *testing.T) {
	r, _, _ := transfer()
	r.Options.Bytes, r.Options.Rate, r.Options.Duration = 1e6, 0, 0
	r.Flows[0].Summary.DurationNs = measure.Duration(200 * time.Millisecond)
	for i := range r.Flows[0].Streams {
		r.Flows[0].Streams[i].TCP = &measure.TCPInfo{Congestion: "cubic"}
	}
	if v := Judge(r); v.LimitedBy != measure.BottleneckNone || v.Confidence != measure.Low {
		t.Errorf("the verdict is %+v", v)
	}
	for i := range r.Flows[0].Streams {
		r.Flows[0].Streams[i].TCP = &measure.TCPInfo{Congestion: "cubic", CwndSegments: 100}
	}
	if v := Judge(r); v.LimitedBy != measure.BottleneckNone || v.Confidence != measure.High {
		t.Errorf("of the kernel's windows, the verdict is %+v", v)
	}
}

// Readings of a long trial are so far apart that several round trips lie between two.
func TestInALongTrialTheSmoothedRoundTripCounts(t *testing.T) {
	r, sender, receiver := transfer()
	for i := range sender.AtNs {
		sender.AtNs[i] *= 10
	}
	for i := range sender.Columns["control.rtt_ns"] {
		sender.Columns["control.rtt_ns"][i] = 20e6 + int64(i%2)*1e6
	}
	r.Options.Duration *= 10
	wantFigures(t, FiguresOf(withSeries(r, sender, receiver), measure.Forward), example{ControlRTTTimes: 2})
}

func slicesOf(v int64) []int64 { return readings(map[string]int64{"x": v}).Columns["x"] }

func TestFiguresOfConnections(t *testing.T) {
	client := readings(map[string]int64{"thread.busiest_ns": 9e7, "tcp.syn_retransmits": 1})
	server := readings(map[string]int64{"thread.busiest_ns": 3e7, "tcp.listen_drops": 2, "tcp.listen_overflows": 2})
	r := withSeries(&measure.Result{
		Test: measure.TestConnect, Connect: &measure.Connect{Opened: 990, Failed: 10}, Summary: measure.Summary{ConnectionsPerSecond: 250},
		Options: measure.Options{RequestRate: 1000},
	}, client, server)
	f := FiguresOf(r, measure.Forward)
	wantFigures(t, f, example{AskedRatio: 0.25, SYNsResent: 0.04, ListenDrops: 0.08, FailedConnections: 10, SenderThread: 0.9, ReceiverThread: 0.3, ThreadLead: 0.6})
	if v := Judge(r); v.LimitedBy != measure.BottleneckServerOverload || v.Evidence[0].Where != measure.AtServer {
		t.Errorf("the verdict is %+v", v)
	}
}

func TestFewDropsAtAQueueHoldManyConnectorsUp(t *testing.T) {
	client := readings(map[string]int64{"thread.busiest_ns": 9e7, "tcp.syn_retransmits": 1})
	server := readings(map[string]int64{"thread.busiest_ns": 9e7, "tcp.listen_drops": 1, "tcp.listen_overflows": 1})
	r := withSeries(&measure.Result{
		Test: measure.TestConnect, Connect: &measure.Connect{Opened: 400_000, DurationNs: 4e9}, Options: measure.Options{Streams: 64},
	}, client, server)
	wantFigures(t, FiguresOf(r, measure.Forward), example{ListenDrops: 1e-4, ListenStall: 40. / (4 * 64)})
	if v := Judge(r); v.Rule != "connect_queue_full" || len(v.Evidence) == 0 || v.Evidence[0].Figure != "listen_stall_ratio" {
		t.Errorf("the verdict is %+v", v)
	}
	r.Options.RequestRate = 100_000 // other connectors go on
	if _, known := FiguresOf(r, measure.Forward).Value(ListenStall); known {
		t.Error("a schedule waits for no connector")
	}
}

func TestTheDriverNamesTheAllowance(t *testing.T) {
	r, sender, receiver := transfer()
	sender.Columns["driver.bw_out_allowance_exceeded"], sender.Columns["driver.pps_allowance_exceeded"] = slicesOf(14), slicesOf(1)
	v := Judge(withSeries(r, sender, receiver))
	want := measure.Evidence{Figure: "allowance_exceeded_ratio", Value: 0.01, Unit: "ratio", Comparison: ">=", Threshold: 0.001, Where: measure.AtClient, Detail: "bw_out_allowance_exceeded"}
	if v.LimitedBy != measure.BottleneckInstanceAllowance || len(v.Evidence) != 1 || v.Evidence[0] != want {
		t.Errorf("the verdict is %+v", v)
	}
}

// The direction that something of the path or of a host limits says more than one that got
// what was asked for.
func TestOfTwoDirectionsTheLimitedOneCounts(t *testing.T) {
	r, sender, receiver := transfer()
	r.Options.Direction, r.Options.Rate = measure.Bidirectional, 100e6
	other := r.Flows[0]
	other.Direction = measure.Reverse
	other.Summary.GoodputBps = 20e6
	r.Flows = append(r.Flows, other)
	for key, column := range sender.Columns { // of the streams in reverse
		if suffix, ok := strings.CutPrefix(key, "forward."); ok {
			receiver.Columns["reverse."+suffix] = column
		}
	}
	receiver.Columns["cgroup.periods"], receiver.Columns["cgroup.throttled_periods"] = slicesOf(1), slicesOf(1)
	if v := Judge(withSeries(r, sender, receiver)); v.LimitedBy != measure.BottleneckSenderCPU || v.Direction != measure.Reverse {
		t.Errorf("the verdict is %+v", v)
	}
}

func TestRoundTripsAreRecoveredFromSmoothedOnes(t *testing.T) {
	sample, smoothed := []float64{50, 50, 10, 90}, []float64{20}
	for _, v := range sample {
		last := smoothed[len(smoothed)-1]
		smoothed = append(smoothed, last, last+(v-last)/8) // it does not change at each reading
	}
	for i, v := range roundTripsOf(smoothed) {
		if math.Abs(v-sample[i]) > 1e-9 {
			t.Errorf("sample %d is %v, want %v", i, v, sample[i])
		}
	}
	if got := roundTripsOf([]float64{20, 20}); len(got) > 0 {
		t.Errorf("without round trips they are %v", got)
	}
}

func TestStreamsInOneQueueWaitTheSame(t *testing.T) {
	r, sender, receiver := transfer()
	wave := func(period int) []int64 {
		out := make([]int64, 40)
		for i := range out {
			out[i] = 20e6 + int64(i%period)*1e6
		}
		return out
	}
	sender.Columns["forward.0.rtt_ns"], sender.Columns["forward.1.rtt_ns"] = wave(8), wave(8)
	wantFigures(t, FiguresOf(withSeries(r, sender, receiver), measure.Forward), example{RTTAlike: 1})
	sender.Columns["forward.1.rtt_ns"] = wave(5)
	if v, _ := FiguresOf(withSeries(r, sender, receiver), measure.Forward).Value(RTTAlike); math.Abs(v) > 0.25 {
		t.Errorf("the correlation of waves of 8 and of 5 is %v", v)
	}
	sender.Columns["forward.1.rtt_ns"] = slicesOf(20e6)
	if v, known := FiguresOf(withSeries(r, sender, receiver), measure.Forward).Value(RTTAlike); known {
		t.Errorf("the correlation with a level round trip is %v", v)
	}
}

func TestRoundTripsOfStreamsWithFewPacketsAreNotCompared(t *testing.T) {
	for window, want := range map[int64]float64{7 * 1448: 0, 8 * 1448: 0.75} {
		r, sender, receiver := transfer()
		for key, column := range maps.Clone(sender.Columns) {
			if own, of := strings.CutPrefix(key, "forward.1."); of {
				sender.Columns["forward.2."+own] = slices.Clone(column)
			}
		}
		for i := range sender.Columns["forward.2.rtt_ns"] {
			sender.Columns["forward.2.rtt_ns"][i], sender.Columns["forward.2.cwnd_bytes"][i] = 30e6, window
		}
		r.Flows[0].Streams = append(r.Flows[0].Streams, r.Flows[0].Streams[1])
		r.Flows[0].Streams[2].Index = 2
		f := FiguresOf(withSeries(r, sender, receiver), measure.Forward)
		if got, known := f.Value(RTTSpread); !known || math.Abs(got-want) > 1e-9 {
			t.Errorf("with a window of %d bytes the round trips of three streams are %v apart (known: %v), want %v", window, got, known, want)
		}
	}
}
