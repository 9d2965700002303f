package trial

import (
	"slices"
	"testing"

	"soku/internal/engine/latency"
	"soku/internal/engine/ping"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/option"
)

// paced returns a trial of 2 s with the rates that were sent and received in each direction,
// and with this number of streams.
func paced(test measure.Test, streams int, sentBps, receivedBps float64, edit func(*measure.Options)) (r *measure.Result, ends []*measure.End) {
	o := option.Defaults(test)
	o.Rate, o.Streams, o.Duration = 100e6, streams, 2e9
	if edit != nil {
		edit(&o)
	}
	o, _ = option.Effective(o, test)
	r = &measure.Result{Schema: measure.Schema, Test: test, Options: o}
	own, other := &measure.End{}, &measure.End{}
	for i, d := range o.Direction.Flows() {
		ends := []*measure.End{own, other}
		if i > 0 || d == measure.Reverse {
			slices.Reverse(ends)
		}
		share := func(bps float64) (out []measure.Stream) {
			for s := range streams {
				out = append(out, measure.Stream{Index: s, TCP: &measure.TCPInfo{BusyNs: 1.9e9}, SentBytes: int64(bps / 4 / float64(streams)), ReceivedBytes: int64(bps / 4 / float64(streams))})
			}
			return out
		}
		if sentBps > 0 {
			ends[0].Flows = append(ends[0].Flows, measure.FlowEnd{Direction: d, Role: measure.Sender, DurationNs: 2e9, Streams: share(sentBps)})
		}
		ends[1].Flows = append(ends[1].Flows, measure.FlowEnd{Direction: d, Role: measure.Receiver, DurationNs: 2e9, Streams: share(receivedBps), Samples: steadySamples(20, int64(receivedBps/80))})
	}
	assemble(r, own, other, nil)
	r.Findings = nil
	warnRate(r, own, other)
	return r, []*measure.End{own, other}
}

func codesOf(r *measure.Result) (codes []string) {
	for _, f := range r.Findings {
		codes = append(codes, string(f.Code)+" "+string(f.Where))
	}
	return codes
}

func TestARateOfAFlowThatWasNotReachedSaysWhereItWasLost(t *testing.T) {
	for _, c := range []struct {
		what           string
		test           measure.Test
		streams        int
		sent, received float64
		edit           func(*measure.Options)
		want           []string
	}{
		{"kept", measure.TestUDP, 1, 100e6, 100e6, nil, nil},
		{"half a percent less", measure.TestUDP, 1, 100e6, 99.5e6, nil, nil},
		{"held up before the steady part", measure.TestUDP, 1, 90e6, 100e6, nil, nil},
		{"not received", measure.TestUDP, 1, 100e6, 60e6, nil, []string{"rate_not_received forward"}},
		{"not sent", measure.TestUDP, 1, 60e6, 60e6, nil, []string{"rate_not_sent forward"}},
		{"the sender is silent", measure.TestUDP, 1, 0, 60e6, nil, []string{"rate_not_received forward"}},
		{"not carried", measure.TestTCP, 1, 60e6, 60e6, nil, []string{"rate_not_carried forward"}},
		{"four streams together", measure.TestTCP, 4, 100e6, 100e6, nil, nil},
		{"many streams too slow", measure.TestTCP, 100, 90e6, 90e6, nil, []string{"rate_not_carried forward"}},
		{"four streams too slow", measure.TestTCP, 4, 60e6, 60e6, nil, []string{"rate_not_carried forward"}},
		{"each direction", measure.TestTCP, 1, 60e6, 60e6, func(o *measure.Options) { o.Direction = measure.Bidirectional },
			[]string{"rate_not_carried forward", "rate_not_carried reverse"}},
		{"no rate", measure.TestTCP, 1, 60e6, 60e6, func(o *measure.Options) { o.Rate = 0 }, nil},
		{"one burst less", measure.TestUDP, 1, 97e6, 97e6, func(o *measure.Options) { o.Burst, o.Size = 1000, 1400 }, nil},
	} {
		r, _ := paced(c.test, c.streams, c.sent, c.received, c.edit)
		if got := codesOf(r); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
		if why, _ := r.Summary.Why(); (why.Code == finding.RateNotReached) != (c.want != nil) || (r.Summary.Confidence == measure.High) != (c.want == nil) {
			t.Errorf("%s: confidence %s, %+v", c.what, r.Summary.Confidence, why)
		}
	}
	r, _ := paced(measure.TestTCP, 4, 60e6, 60e6, nil)
	want := measure.Figures{"offered_bps": 100e6, "sent_bps": 60e6, "received_bps": 60e6, "slow_streams": 4}
	wantFindings(t, "figures", r, warning(finding.RateNotCarried, "forward", want)...)
}

func TestATCPConnectionWithNothingToSendHasASlowSender(t *testing.T) {
	r, ends := paced(measure.TestTCP, 1, 60e6, 60e6, nil)
	r.Findings = nil
	r.Flows[0].Streams[0].TCP.BusyNs = 1e9
	warnRate(r, ends...)
	if got := codesOf(r); !slices.Equal(got, []string{"rate_not_sent forward"}) {
		t.Error(got)
	}
}

func TestAScheduleThatWasNotKeptSaysWhoFellBehind(t *testing.T) {
	for _, c := range []struct {
		what                 string
		test                 measure.Test
		udp                  bool
		late                 int64   // ms by which the last request left late
		lateSends            int64   // of 2000
		firstLagMs, endLagMs float64 // of replies
		want                 []string
	}{
		{"kept", measure.TestLatency, false, 0, 0, 1, 1, nil},
		{"held up once at the end", measure.TestLatency, false, 80, 60, 1, 80, nil},
		{"a queue of constant length", measure.TestLatency, false, 0, 0, 400, 400, nil},
		{"the client is too slow", measure.TestLatency, false, 800, 2000, 200, 700, []string{"requests_not_sent client"}},
		{"replies are too slow", measure.TestLatency, false, 0, 0, 300, 1000, []string{"replies_fell_behind "}},
		{"replies hold up requests over TCP", measure.TestLatency, false, 500, 2000, 1000, 2500, []string{"replies_fell_behind "}},
		{"both are too slow over UDP", measure.TestLatency, true, 500, 2000, 1000, 2500, []string{"replies_fell_behind ", "requests_not_sent client"}},
		{"echo requests", measure.TestPing, false, 800, 2000, 1, 1, []string{"requests_not_sent client"}},
	} {
		o := option.Defaults(c.test)
		o.Duration = 2e9
		if c.test == measure.TestPing {
			o.Own = ping.Options{Spacing: 1e6}
		} else {
			o.RequestRate = 1000
		}
		if c.udp {
			measure.EditOwn(&o, func(own *latency.Options) { own.Protocol = "udp" })
		}
		o, err := option.Effective(o, c.test)
		if err != nil {
			t.Fatal(err)
		}
		h := measure.NewHistogram()
		for range 2000 {
			h.Record(1e6)
		}
		l := &measure.Latency{Histogram: h, Sent: 2000, Received: 2000, LateSends: c.lateSends, LastSentNs: 2e9, LastDueNs: 2e9 - c.late*1e6}
		for i := range 100 {
			lag := c.firstLagMs
			if i >= 50 {
				lag = c.endLagMs
			}
			l.Series = append(l.Series, measure.LatencyPoint{AtNs: int64(i) * 2e7, P50Ns: int64(lag * 1e6)})
		}
		r := &measure.Result{Schema: measure.Schema, Test: c.test, Options: o}
		assemble(r, &measure.End{Latency: l}, &measure.End{}, nil)
		warnRate(r)
		if got := codesOf(r); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
		if (r.Summary.Confidence == measure.Low) != (c.want != nil) {
			t.Errorf("%s: confidence %s", c.what, r.Summary.Confidence)
		}
	}
}

func TestDatagramsOfWhichNoneArrivedDidNotReachTheirRate(t *testing.T) {
	nothing := 0.0
	r := resultOf(measure.TestUDP)
	f := measure.Flow{Direction: measure.Forward, Summary: measure.Summary{SentBytes: 12.5e6, PacketsSent: 9000, PacketsLost: 9000, LossRatio: &nothing}}
	r.Flows = []measure.Flow{f}
	warnRate(r, &measure.End{Flows: []measure.FlowEnd{{Direction: measure.Forward, Role: measure.Sender, DurationNs: 10e9, Streams: []measure.Stream{{}}}}})
	if got := codesOf(r); !slices.Equal(got, []string{"rate_not_received forward"}) {
		t.Error(got)
	}
}
