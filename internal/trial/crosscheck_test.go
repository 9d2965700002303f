package trial

import (
	"math"
	"testing"
	"time"

	"soku/internal/engine"
	"soku/internal/engine/tcp"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/option"
	"soku/test/loopback"
)

// checked is a result of a flow of 100 MB in packets of 1400 bytes, whose ends count these bytes.
func checked(d measure.Direction, iface string, clientSent, clientReceived, serverSent, serverReceived int64) *measure.Result {
	host := func(sent, received int64) *measure.Host {
		return &measure.Host{Facts: measure.Facts{Interface: iface}, Counters: &measure.Counters{TxBytes: sent, RxBytes: received}}
	}
	return &measure.Result{
		Path: measure.Path{Server: measure.Endpoint{Address: "192.0.2.1"}}, Options: measure.Options{Direction: d},
		Hosts: measure.Hosts{Client: host(clientSent, clientReceived), Server: host(serverSent, serverReceived)},
		Flows: []measure.Flow{{Direction: d, Streams: []measure.Stream{{TCP: &measure.TCPInfo{SentBytes: 98_000_000, DataSegsOut: 70_000, MSS: 1400}}}}},
	}
}

func TestOtherTrafficOnTheInterfaceIsFound(t *testing.T) {
	const own = 98_000_000 + 70_000*tcpHeaders
	found := func(where measure.Where, direction string, counted int64) []measure.Finding {
		return warning(finding.OtherTraffic, where, measure.Figures{
			"interface": "eth0", "direction": direction, "interface_bytes": counted, "test_bytes": int64(own), "other_ratio": float64(counted-own) / float64(counted),
		})
	}
	for name, c := range map[string]struct {
		r    *measure.Result
		want []measure.Finding
	}{
		"the test alone":              {checked(measure.Forward, "eth0", own, 5_000_000, 5_000_000, own), nil},
		"a seventh is others'":        {checked(measure.Forward, "eth0", own*7/6-1000, 0, 0, own), nil},
		"the client sends more":       {checked(measure.Forward, "eth0", own*6/5, 0, 0, own), found(measure.AtClient, "sent", own*6/5)},
		"the server receives more":    {checked(measure.Forward, "eth0", own, 0, 0, 2*own), found(measure.AtServer, "received", 2*own)},
		"the server sends more":       {checked(measure.Reverse, "eth0", 0, own, 2*own, 0), found(measure.AtServer, "sent", 2*own)},
		"joined packets count less":   {checked(measure.Forward, "eth0", own*9/10, 0, 0, own*9/10), nil},
		"loopback":                    {checked(measure.Forward, "lo", 5*own, 5*own, 5*own, 5*own), nil},
		"counters that are not known": {checked(measure.Forward, "eth0", 0, 0, 0, 0), nil},
	} {
		crossCheck(c.r)
		wantFindings(t, name, c.r, c.want...)
	}
	group := checked(measure.Forward, "eth0", 5*own, 0, 0, own)
	group.Trial = &measure.Trial{Group: &measure.Group{Trials: 2}}
	crossCheck(group)
	wantFindings(t, "trials that start together", group)
	none := checked(measure.Forward, "eth0", 5*own, 0, 0, own)
	none.Hosts = measure.Hosts{Client: &measure.Host{}}
	crossCheck(none)
	wantFindings(t, "hosts without counters", none)
}

// A kernel is read at the end of the time. What its socket holds then is sent later, and where a
// queue is full much of it twice.
func TestWhatASocketHeldAtTheEndIsNoOtherTraffic(t *testing.T) {
	const sent = 70_000 * 1400 // until the kernel was read; 50,000 segments of them arrived or are on the way
	stream := measure.Stream{SentBytes: 100_000_000, ReceivedBytes: 100_000_000, TCP: &measure.TCPInfo{
		SentBytes: sent, DataSegsOut: 70_000, MSS: 1400, AckedBytes: 49_000 * 1400, UnackedSegs: 1000,
	}}
	later := int64(30_000_000 * 7 / 5)
	whole := (sent + later) * (1400 + tcpHeaders) / 1400
	r := checked(measure.Forward, "eth0", whole, 0, 0, 100_000_000)
	r.Flows[0].Streams[0] = stream
	crossCheck(r)
	wantFindings(t, "the test alone", r)
	r.Hosts.Client.Counters.TxBytes = whole * 6 / 5
	if crossCheck(r); len(r.Findings) != 1 || r.Findings[0].Code != finding.OtherTraffic {
		t.Errorf("a sixth is others': %+v", r.Findings)
	}
	r = checked(measure.Forward, "eth0", whole, 0, 0, 0)
	stream.TCP.AckedBytes, stream.TCP.UnackedSegs = 0, 0
	r.Flows[0].Streams[0] = stream
	if crossCheck(r); len(r.Findings) != 1 { // without acknowledgements only what never left is known: 2 MB
		t.Errorf("a kernel that does not report acknowledged bytes: %+v", r.Findings)
	}
}

func TestSmallDatagramsAreNoOtherTraffic(t *testing.T) {
	r := checked(measure.Forward, "eth0", 100_000*(18+42), 0, 0, 90_000*(18+42))
	r.Options.Size = 18
	r.Flows[0].Streams[0] = measure.Stream{Packets: &measure.PacketCount{Sent: 90_000, Received: 80_000, Omitted: 10_000}}
	crossCheck(r)
	wantFindings(t, "headers are most of it", r)
	r.Hosts.Client.Counters.TxBytes *= 2
	if crossCheck(r); len(r.Findings) != 1 || r.Findings[0].Code != finding.OtherTraffic {
		t.Errorf("as much again: %+v", r.Findings)
	}
}

func TestConnectionsThatTheKernelsDroppedAreFound(t *testing.T) {
	with := func(columns map[string][]int64) *measure.Host {
		return &measure.Host{Series: measure.NewSeries(measure.SeriesValues{AtNs: []int64{0, 1, 2}, Columns: columns})}
	}
	r := &measure.Result{Connect: &measure.Connect{Opened: 1000}, Hosts: measure.Hosts{
		Client: with(map[string][]int64{"tcp.syn_retransmits": {12, 8}}),
		Server: with(map[string][]int64{"tcp.listen_drops": {7, -1}, "tcp.listen_overflows": {-1, 7}, "tcp.request_queue_drops": {2, 2}}),
	}}
	crossCheck(r)
	wantFindings(t, "2 % and 1.1 %", r,
		measure.NewFinding(finding.SYNsResent, measure.AtClient, measure.Figures{"syn_retransmits": 20, "opened": 1000}),
		measure.NewFinding(finding.ListenerDropped, measure.AtServer, measure.Figures{"dropped": 11, "listen_overflows": 7, "opened": 1000}))
	r.Findings, r.Connect.Opened = nil, 1101
	crossCheck(r)
	wantFindings(t, "less", r)
	r.Hosts = measure.Hosts{}
	r.Connect.Opened = 0
	crossCheck(r)
	wantFindings(t, "nothing known", r)
}

// A receiver whose program does not run reads all bytes at the end, in far less time than they were sent.
func TestAReceiverThatBeganLateDoesNotMeasureByItsOwnClock(t *testing.T) {
	o := option.Defaults(measure.TestTCP)
	o.Duration, o.Rate, o.Streams = measure.Duration(200*time.Millisecond), 1_000_000, 1 // the socket holds that unread
	a, b := loopback.TCP(t, 1)
	sent, err := tcp.Send(t.Context(), a, o, engine.Flow{Direction: measure.Forward})
	if err != nil {
		t.Fatal(err)
	}
	received, err := tcp.Receive(t.Context(), b, o, engine.Flow{Direction: measure.Forward})
	if err != nil {
		t.Fatal(err)
	}
	r := &measure.Result{Test: measure.TestTCP, Options: o}
	own := &measure.End{Flows: []measure.FlowEnd{sent}}
	assemble(r, own, &measure.End{Flows: []measure.FlowEnd{received}}, nil)
	if err := cutShort(r); err != nil {
		t.Error(err)
	}
	warnRate(r, own)
	if got, want := r.Summary.GoodputBps, float64(sentBytes(sent))*8/0.2; math.Abs(got/want-1) > 0.01 || r.Summary.Confidence != measure.Low {
		t.Errorf("%.4g bit/s, with confidence %s, want %.4g", got, r.Summary.Confidence, want)
	}
	late := r.Findings.With(finding.ReceiverBeganLate)
	wantFindings(t, "late", &measure.Result{Findings: late}, warning(finding.ReceiverBeganLate, "forward", measure.Figures{
		"counted_ns": received.DurationNs, "duration_ns": o.Duration,
	})...)
}

func sentBytes(f measure.FlowEnd) (n int64) {
	for _, s := range f.Streams {
		n += s.SentBytes
	}
	return n
}

// The receiver's own clock does not tell a cut from a late first read; the bytes of both ends do.
func TestAFlowIsCutShortWhereBytesAreMissing(t *testing.T) {
	for name, c := range map[string]struct {
		received int64
		took     time.Duration
		cut      bool
		late     int
	}{
		"all bytes, read in no time":      {1_000_000, 63 * time.Millisecond, false, 1},
		"all bytes, in half of the time":  {1_000_000, time.Second, false, 0},
		"half of the bytes, and no more":  {500_000, 63 * time.Millisecond, true, 0},
		"a queue that was not read empty": {500_000, 2 * time.Second, false, 0},
	} {
		o := option.Defaults(measure.TestTCP)
		o.Duration = measure.Duration(2 * time.Second)
		r := &measure.Result{Test: measure.TestTCP, Options: o}
		own := &measure.End{Flows: []measure.FlowEnd{{Direction: measure.Forward, Role: measure.Sender, DurationNs: 2e9, Streams: []measure.Stream{{SentBytes: 1_000_000}}}}}
		other := &measure.End{Flows: []measure.FlowEnd{{Direction: measure.Forward, Role: measure.Receiver, DurationNs: int64(c.took), Streams: []measure.Stream{{ReceivedBytes: c.received}}}}}
		assemble(r, own, other, nil)
		if err := cutShort(r); (measure.KindOf(err) == measure.KindBroken) != c.cut || (err != nil) != c.cut {
			t.Errorf("%s: %v", name, err)
		}
		if late := r.Findings.With(finding.ReceiverBeganLate); len(late) != c.late {
			t.Errorf("%s: %+v", name, late)
		}
	}
}
