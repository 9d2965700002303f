package verdict

import (
	"encoding/json"
	"slices"
	"testing"

	"soku/internal/measure"
)

func TestAFigureWithoutItsSourceIsAbsent(t *testing.T) {
	r, sender, receiver := transfer()
	delete(sender.Columns, "tcp.recoveries")
	sender.Columns["control.rtt_ns"] = slicesOf(-1)
	f := FiguresOf(withSeries(r, sender, receiver), measure.Forward)
	for _, key := range []Key{Recoveries, LossesPerRecovery, ControlRTTTimes, BesideRatio} {
		if v, known := f.Value(key); known {
			t.Errorf("%s is %v without its source", key, v)
		}
	}
	sender.Columns["tcp.retransmits"] = slicesOf(1) // the source is there, so the counter did not move
	wantFigures(t, FiguresOf(withSeries(r, sender, receiver), measure.Forward), example{Recoveries: 0})

	bare, _, _ := transfer()
	if v := Judge(bare); v == nil || v.LimitedBy != measure.BottleneckNone || v.Confidence != measure.Low {
		t.Errorf("without series the verdict is %+v", v)
	}
}

// An older kernel has fewer counters, which a document leaves out as it does those that are 0.
func TestWhatAnOlderKernelDoesNotCountIsAbsent(t *testing.T) {
	r, sender, receiver := transfer()
	for _, stream := range []string{"forward.0.", "forward.1."} {
		for _, name := range []string{"segments_out", "acked_bytes", "sent_bytes", "busy_ns", "rwnd_limited_ns"} {
			delete(sender.Columns, stream+name)
		}
	}
	f := FiguresOf(withSeries(r, sender, receiver), measure.Forward)
	for _, key := range []Key{LossRatio, Acknowledged, LossesPerRecovery, RwndLimited, SndbufLimited} {
		if v, known := f.Value(key); known {
			t.Errorf("%s is %v without its counters", key, v)
		}
	}
	wantFigures(t, f, example{RTTTimes: 1.5, WindowUsed: 0.25})
}

// Linux before 6.7 counts no time-outs of a connection.
func TestTimeoutsOfTheHostCountWhereThoseOfTheStreamsAreNotKnown(t *testing.T) {
	r, sender, receiver := transfer()
	sender.Columns["tcp.timeouts"] = slicesOf(1)
	wantFigures(t, FiguresOf(withSeries(r, sender, receiver), measure.Forward), example{Timeouts: 20})
	sender.Columns["forward.1.timeouts"] = slicesOf(3)
	wantFigures(t, FiguresOf(withSeries(r, sender, receiver), measure.Forward), example{Timeouts: 60})
}

func TestAnInvalidSeriesIsNone(t *testing.T) {
	r, _, _ := transfer()
	r.Hosts.Client = &measure.Host{Series: &measure.Series{}}
	if err := json.Unmarshal([]byte(`{"at_ns":[0,5,1],"columns":{"thread.busiest_ns":[1,2]}}`), r.Hosts.Client.Series); err != nil {
		t.Fatal(err)
	}
	if _, known := FiguresOf(r, measure.Forward).Value(SenderThread); known {
		t.Error("a series that is not one has figures")
	}
}

// A shaper with a full queue drops as a policer does, or by bursts; what tells them apart is
// whether packets wait, which the series of the hosts have.
func TestLostDatagramsAloneDoNotTellWhatDropsThem(t *testing.T) {
	for variance, want := range map[float64]measure.Bottleneck{0.01: measure.BottleneckPathPolicer, 1: measure.BottleneckPathLoss} {
		unseen := datagrams.with(example{LossVariance: variance}).without(ControlRTTTimes, ControlQueue, SenderThread, SenderThrottled)
		v := judge(unseen.figures(), measure.TestUDP)
		if v.LimitedBy != want || v.Confidence == measure.High || !slices.Contains(v.Alternatives, measure.BottleneckPathShaper) {
			t.Errorf("variance %v: the verdict is %+v", variance, v)
		}
	}
}

// Without the figures that a foreign server does not report, the confidence is lower.
func TestWithoutTheFarEndAVerdictIsNotOfHighConfidence(t *testing.T) {
	far := []Key{ReceiverThread, ReceiverThrottled, ReceiverSoftirq, ReceiverShared, ReceiveBufferUsed, ControlRTTTimes, ControlQueue, ControlResent, BesideRatio, ListenDrops, ListenStall, ThreadLead}
	for name, c := range map[string]struct {
		figures example
		test    measure.Test
		or      measure.Bottleneck
	}{
		"window":           {examples["window"], measure.TestTCP, measure.BottleneckReceiverCPU},
		"queue":            {examples["queue"], measure.TestTCP, measure.BottleneckFlowCap},
		"connect_syn_lost": {examples["connect_syn_lost"], measure.TestConnect, measure.BottleneckServerOverload},
	} {
		v := judge(c.figures.without(far...).figures(), c.test)
		if v.LimitedBy != judge(c.figures.figures(), c.test).LimitedBy || v.Confidence != measure.Medium || !slices.Contains(v.Alternatives, c.or) {
			t.Errorf("%s: the verdict is %+v", name, v)
		}
	}
}

// A document leaves out counters that did not move. Linux has those of the listening queues.
func TestALinuxServerThatCountsNoDropDroppedNone(t *testing.T) {
	client, server := readings(map[string]int64{"thread.busiest_ns": 1e7, "tcp.syn_retransmits": 3}), readings(map[string]int64{"thread.busiest_ns": 1e7})
	r := withSeries(&measure.Result{Test: measure.TestConnect, Connect: &measure.Connect{Opened: 1000}}, client, server)
	r.Hosts.Server.Facts.OS = "linux"
	wantFigures(t, FiguresOf(r, measure.Forward), example{ListenDrops: 0})
	if v := Judge(r); v.LimitedBy != measure.BottleneckConnectionRate || v.Confidence != measure.High {
		t.Errorf("the verdict is %+v", v)
	}
	r.Hosts.Server.Facts.OS = "freebsd"
	if v := Judge(r); v.LimitedBy != measure.BottleneckConnectionRate || v.Confidence != measure.Medium {
		t.Errorf("of another system's server, the verdict is %+v", v)
	}
}

// A full table of tracked connections drops SYNs before they reach a listener: the server counts that, and
// none of its listeners dropped anything.
func TestAServerThatCannotTrackConnectionsIsNoLimitOfThePath(t *testing.T) {
	client, server := readings(map[string]int64{"thread.busiest_ns": 1e7, "tcp.syn_retransmits": 5}), readings(map[string]int64{"thread.busiest_ns": 1e7, "conntrack.dropped": 5, "conntrack.insert_failed": 3})
	r := withSeries(&measure.Result{Test: measure.TestConnect, Connect: &measure.Connect{Opened: 900, Failed: 100}}, client, server)
	r.Hosts.Server.Facts.OS = "linux"
	v := Judge(r)
	if v.LimitedBy != measure.BottleneckServerOverload || v.Confidence != measure.High || v.Evidence[0].Where != measure.AtServer || v.Evidence[0].Value != 0.32 || v.Remedy.Code != "conntrack_table" {
		t.Errorf("the verdict is %+v", v)
	}
	delete(server.Columns, "conntrack.dropped") // nothing was dropped there
	delete(server.Columns, "conntrack.insert_failed")
	if v := Judge(withSeries(r, client, server)); v.LimitedBy != measure.BottleneckConnectionRate {
		t.Errorf("the verdict is %+v", v)
	}
}

func TestOtherTestsAndFailedTrialsHaveNoVerdict(t *testing.T) {
	for name, r := range map[string]*measure.Result{
		"ping":   {Test: measure.TestPing},
		"failed": {Test: measure.TestTCP, Error: measure.TextError(measure.KindUnreachable, "refused", "")},
	} {
		if v := Judge(r); v != nil {
			t.Errorf("%s: %+v", name, v)
		}
	}
}
