package trial

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/option"
)

// steadySamples are n samples of 100 ms with the bytes each.
func steadySamples(n int, bytes int64) []measure.Sample {
	out := make([]measure.Sample, n)
	for i := range out {
		out[i] = measure.Sample{StartNs: int64(i) * 1e8, EndNs: int64(i+1) * 1e8, ReceivedBytes: bytes}
	}
	return out
}

func tcpEnds(sent, received int64) (own, other *measure.End) {
	retransmits := &measure.TCPInfo{Retransmits: 4}
	own = &measure.End{Flows: []measure.FlowEnd{{
		Direction: measure.Forward, Role: measure.Sender, DurationNs: 2e9,
		Streams: []measure.Stream{{Index: 0, SentBytes: sent, TCP: retransmits}},
	}}}
	other = &measure.End{Flows: []measure.FlowEnd{{
		Direction: measure.Forward, Role: measure.Receiver, DurationNs: 2e9,
		Streams: []measure.Stream{{Index: 0, ReceivedBytes: received}},
		Samples: steadySamples(20, received/20),
	}}}
	return own, other
}

func resultOf(test measure.Test) *measure.Result {
	o, _ := option.Effective(option.Defaults(test), test)
	return &measure.Result{Schema: measure.Schema, Test: test, Options: o}
}

func TestGoodputIsTheReceiversCount(t *testing.T) {
	r := resultOf(measure.TestTCP)
	own, other := tcpEnds(30_000_000, 25_000_000)
	assemble(r, own, other, nil)
	if got, want := r.Summary.GoodputBps, 100e6; got < want*0.999 || got > want*1.001 {
		t.Errorf("goodput %.0f, want %.0f", got, want)
	}
	if r.Summary.SentBytes != 30_000_000 || r.Summary.ReceivedBytes != 25_000_000 || *r.Summary.Retransmits != 4 {
		t.Errorf("summary %+v", r.Summary)
	}
	wantFindings(t, "counts", r, warning(finding.ReceiverDisagrees, "forward", measure.Figures{"sent_bytes": 30e6, "received_bytes": 25e6})...)
}

func TestCountsThatAgreeGiveNoWarning(t *testing.T) {
	r := resultOf(measure.TestTCP)
	own, other := tcpEnds(25_000_000, 24_900_000)
	assemble(r, own, other, nil)
	wantFindings(t, "counts", r)
}

func TestSlowStartIsLeftOutOfGoodput(t *testing.T) {
	r := resultOf(measure.TestTCP)
	own, other := tcpEnds(0, 0)
	samples := steadySamples(40, 1_250_000)
	for i := range 6 {
		samples[i].ReceivedBytes = 20_000 << i
	}
	var total int64
	for _, s := range samples {
		total += s.ReceivedBytes
	}
	own.Flows[0].Streams[0].SentBytes = total
	f := &other.Flows[0]
	f.Samples, f.DurationNs, f.Streams[0].ReceivedBytes = samples, 4e9, total
	assemble(r, own, other, nil)
	if got := r.Summary.GoodputBps; got < 99.5e6 || got > 100.5e6 {
		t.Errorf("goodput %.1f Mbit/s, want the 100 of the steady part", got/1e6)
	}
	if r.Summary.SteadyStartNs == 0 || r.Summary.ReceivedBytes != total {
		t.Errorf("steady from %s, received %d of %d", r.Summary.SteadyStartNs, r.Summary.ReceivedBytes, total)
	}
}

func TestWithoutTheReceiverNoGoodputIsMadeUp(t *testing.T) {
	r := resultOf(measure.TestTCP)
	own, _ := tcpEnds(25_000_000, 0)
	assemble(r, own, &measure.End{}, nil)
	if r.Summary.GoodputBps != 0 || r.Summary.SentBytes != 25_000_000 || r.Summary.Confidence != measure.Low {
		t.Errorf("summary %+v", r.Summary)
	}
}

func TestUDPLossIsSentMinusReceived(t *testing.T) {
	r := resultOf(measure.TestUDP)
	own := &measure.End{Flows: []measure.FlowEnd{{Direction: measure.Forward, Role: measure.Sender,
		Streams: []measure.Stream{{SentBytes: 1_400_000, Packets: &measure.PacketCount{Sent: 1000}}}}}}
	other := &measure.End{Flows: []measure.FlowEnd{{Direction: measure.Forward, Role: measure.Receiver, DurationNs: 2e9,
		Streams: []measure.Stream{{ReceivedBytes: 1_386_000, Packets: &measure.PacketCount{Received: 990, Reordered: 2, Duplicated: 1, JitterNs: 5000}}},
		Samples: steadySamples(20, 69_300)}}}
	assemble(r, own, other, nil)
	s := r.Summary
	if s.PacketsLost != 10 || s.LossRatio == nil || *s.LossRatio != 0.01 || s.PacketsPerSecond != 495 || *s.JitterNs != 5000 || s.PacketsReordered != 2 {
		t.Errorf("summary %+v", s)
	}
}

func TestBothDirectionsAddUp(t *testing.T) {
	r := resultOf(measure.TestTCP)
	r.Options.Direction = measure.Bidirectional
	own, other := tcpEnds(25_000_000, 25_000_000)
	back, forth := tcpEnds(12_500_000, 12_500_000)
	back.Flows[0].Direction, forth.Flows[0].Direction = measure.Reverse, measure.Reverse
	other.Flows = append(other.Flows, back.Flows[0]) // the server sends
	own.Flows = append(own.Flows, forth.Flows[0])
	assemble(r, own, other, nil)
	if len(r.Flows) != 2 || r.Summary.ReceivedBytes != 37_500_000 || r.Summary.GoodputBps < 149e6 || r.Summary.GoodputBps > 151e6 {
		t.Errorf("%d flows, %+v", len(r.Flows), r.Summary)
	}
}

func TestAMedianNearTheFloorIsAWarning(t *testing.T) {
	h := measure.NewHistogram()
	for range 2000 {
		h.Record(60_000)
	}
	r := resultOf(measure.TestLatency)
	floor := &measure.FloorReading{RTT: measure.Percentiles{P50: 30_000}}
	assemble(r, &measure.End{Latency: &measure.Latency{Histogram: h, Sent: 2000, Received: 2000}}, &measure.End{}, floor)
	if r.Summary.RTT.Count != 2000 || *r.Summary.FloorNs != 30_000 {
		t.Errorf("summary %+v", r.Summary)
	}
	wantFindings(t, "floor", r, warning(finding.RTTNearBaseline, "", measure.Figures{"rtt_ns": r.Summary.RTT.P50, "baseline_ns": 30_000})...)
}

func TestFewRoundTripsAreCountedInTheirConfidence(t *testing.T) {
	for n, want := range map[int]finding.Code{
		1: finding.FewForPercentiles, 40: finding.FewForPercentiles, 500: finding.FewForTail, 5000: finding.EnoughForTail,
	} {
		h := measure.NewHistogram()
		for range n {
			h.Record(1e6)
		}
		r := resultOf(measure.TestPing)
		assembleLatency(r, &measure.Latency{Histogram: h}, nil)
		if why, _ := r.Summary.Why(); !why.Equal(measure.NewFinding(want, "", measure.Figures{"round_trips": n})) {
			t.Errorf("%d: %+v, want %s", n, why, want)
		}
	}
}

func TestWhatASplitLacksIsAWarning(t *testing.T) {
	stamped := measure.Timing{Clock: measure.ClockKernelArrival, Wait: measure.WaitSpinning}
	plain := measure.Timing{Clock: measure.ClockProgram, Wait: measure.WaitPoller}
	split := func(n, unsplit int64) *measure.Split {
		return &measure.Split{WholeNs: measure.Percentiles{Count: n}, Unsplit: unsplit}
	}
	for _, c := range []struct {
		split          *measure.Split
		client, server measure.Timing
		want           []measure.Finding
	}{
		{split(1000, 10), plain, stamped, nil},
		{split(980, 20), plain, stamped, warning(finding.SplitIncomplete, "", measure.Figures{"unsplit": 20, "round_trips": 1000})},
		{split(1000, 0), plain, plain, warning(finding.SplitFarKernelUnstamped, "server", nil)},
		{nil, plain, stamped, warning(finding.SplitUnsupported, "client", nil)},
		{nil, measure.Timing{Clock: measure.ClockKernel}, stamped, warning(finding.SplitStampsMissing, "", nil)},
	} {
		h := measure.NewHistogram()
		h.Record(60_000)
		r := resultOf(measure.TestLatency)
		r.Options.Own = latency.Options{Stamps: latency.StampsSplit}
		l := &measure.Latency{Timing: &c.client, Histogram: h, Sent: 1, Received: 1, Split: c.split, ServerTiming: &c.server}
		assembleLatency(r, l, nil)
		wantFindings(t, c.split, r, c.want...)
	}
}

func TestAHostThatCannotBeFoundIsAnUnreachableResult(t *testing.T) {
	for _, c := range []struct {
		host string
		kind measure.Kind
		want string
	}{
		{"", measure.KindUsage, "no host"},
		{"no-such-host.invalid", measure.KindUnreachable, "find the address of no-such-host.invalid"},
		{"127.0.0.1:99999", measure.KindUsage, "not 1..65535"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		r := Run(ctx, Spec{Test: measure.TestTCP, Options: option.Defaults(measure.TestTCP), Host: c.host}, Hooks{})
		cancel()
		if r.Error == nil || r.Error.Kind != c.kind || !strings.Contains(r.Error.Message, c.want) || r.Error.Hint == "" {
			t.Errorf("%q: %+v", c.host, r.Error)
		}
	}
}

func udpEnds(tx, rx string, drops *int64, joined int64) (own, other *measure.End) {
	own = &measure.End{Flows: []measure.FlowEnd{{
		Direction: measure.Forward, Role: measure.Sender, Path: tx, DurationNs: 2e9,
		Streams: []measure.Stream{{SentBytes: 1_400_000, Packets: &measure.PacketCount{Sent: 1000}}},
	}}}
	other = &measure.End{Flows: []measure.FlowEnd{{
		Direction: measure.Forward, Role: measure.Receiver, Path: rx, DurationNs: 2e9,
		Streams: []measure.Stream{{ReceivedBytes: 1_260_000, Packets: &measure.PacketCount{Received: 900, SocketDrops: drops, Joined: joined}}},
		Samples: steadySamples(20, 63_000),
	}}}
	return own, other
}

func TestLossInTheReceiversSocketIsToldFromThatOfThePath(t *testing.T) {
	drops, none := int64(60), int64(0)
	for _, c := range []struct {
		drops *int64
		want  []measure.Finding
	}{{&drops, warning(finding.SocketDrops, "forward", measure.Figures{"dropped_datagrams": 60, "lost_datagrams": 100})}, {&none, nil}, {nil, nil}} {
		r := resultOf(measure.TestUDP)
		own, other := udpEnds("batch", "batch", c.drops, 0)
		assemble(r, own, other, nil)
		wantFindings(t, "socket drops", r, c.want...)
		if s := r.Summary.SocketDrops; (s == nil) != (c.drops == nil) || s != nil && *s != *c.drops {
			t.Errorf("socket drops %v in the summary, want %v", s, c.drops)
		}
	}
}

func TestSegmentsThatNothingSplitAreNoPacketsOfAWire(t *testing.T) {
	for _, c := range []struct {
		tx, rx string
		nic    measure.Facts
		joined int64
		want   []measure.Finding
	}{
		{"batch", "batch", measure.Facts{Interface: "lo"}, 0, nil},
		{"gso", "batch", measure.Facts{Interface: "lo"}, 0, warning(finding.SegmentsNotSplit, "forward", measure.Figures{"interface": "lo"})},
		{"gso", "gro", measure.Facts{Interface: "eth0", Driver: "veth"}, 900, warning(finding.SegmentsNotSplit, "forward", measure.Figures{"interface": "eth0"})},
		{"gso", "gro", measure.Facts{Interface: "eth0", Driver: "ena"}, 450, warning(finding.SegmentsArrivedJoined, "forward", measure.Figures{"joined_ratio": 0.5})},
		{"gso", "batch", measure.Facts{Interface: "eth0", Driver: "ena"}, 0, nil},
		{"batch", "gro", measure.Facts{Interface: "eth0", Driver: "ena"}, 900, warning(finding.DatagramsJoined, "forward", measure.Figures{"joined_ratio": 1})},
	} {
		r := resultOf(measure.TestUDP)
		r.Hosts.Client = &measure.Host{Facts: c.nic}
		own, other := udpEnds(c.tx, c.rx, nil, c.joined)
		assemble(r, own, other, nil)
		wantFindings(t, fmt.Sprintf("%s to %s over %+v", c.tx, c.rx, c.nic), r, c.want...)
	}
}

// shared is both ends of a flow of two seconds whose streams received those bytes.
func shared(dir measure.Direction, bytes ...int64) (sender, receiver measure.FlowEnd) {
	sender = measure.FlowEnd{Direction: dir, Role: measure.Sender, DurationNs: 2e9}
	receiver = measure.FlowEnd{Direction: dir, Role: measure.Receiver, DurationNs: 2e9}
	for i, n := range bytes {
		sender.Streams = append(sender.Streams, measure.Stream{Index: i, SentBytes: n})
		receiver.Streams = append(receiver.Streams, measure.Stream{Index: i, ReceivedBytes: n})
	}
	return sender, receiver
}

func TestSeveralStreamsShowHowEvenlyTheyShared(t *testing.T) {
	r := resultOf(measure.TestTCP)
	sent, received := shared(measure.Forward, 1_000_000, 2_000_000, 9_000_000)
	assemble(r, &measure.End{Flows: []measure.FlowEnd{sent}}, &measure.End{Flows: []measure.FlowEnd{received}}, nil)
	f := r.Summary.Fairness
	if f == nil {
		t.Fatal("nothing about fairness")
	}
	// (1+2+9)² / 3(1+4+81), and bytes in 2 s.
	if want := 144.0 / 258; f.JainIndex < want-1e-9 || f.JainIndex > want+1e-9 {
		t.Errorf("index %v, want %v", f.JainIndex, want)
	}
	if f.MinBps != 4e6 || f.MedianBps != 8e6 || f.MaxBps != 36e6 {
		t.Errorf("%+v", f)
	}
	if r.Flows[0].Summary.Fairness == nil {
		t.Error("the direction does not have it")
	}
}

func TestOfTwoDirectionsTheLessEvenOneCounts(t *testing.T) {
	r := resultOf(measure.TestTCP)
	r.Options.Direction = measure.Bidirectional
	fs, fr := shared(measure.Forward, 5, 5)
	rs, rr := shared(measure.Reverse, 0, 10)
	assemble(r, &measure.End{Flows: []measure.FlowEnd{fs, rr}}, &measure.End{Flows: []measure.FlowEnd{fr, rs}}, nil)
	if f := r.Summary.Fairness; f == nil || f.JainIndex != 0.5 || f.MinBps != 0 {
		t.Errorf("%+v, want the index 0.5 of the reverse direction", f)
	}
}

func TestThereIsNoFairnessOfOneStreamNorWithoutTheReceiver(t *testing.T) {
	one, both := resultOf(measure.TestTCP), resultOf(measure.TestTCP)
	own, other := tcpEnds(1000, 1000)
	assemble(one, own, other, nil)
	sent, _ := shared(measure.Forward, 5, 5)
	assemble(both, &measure.End{Flows: []measure.FlowEnd{sent}}, &measure.End{}, nil)
	if one.Summary.Fairness != nil || both.Summary.Fairness != nil {
		t.Errorf("%+v, %+v", one.Summary.Fairness, both.Summary.Fairness)
	}
}
