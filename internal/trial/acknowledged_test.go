package trial

import (
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// counted has a sender's counts over two streams in a second.
func counted() *measure.End {
	return &measure.End{Flows: []measure.FlowEnd{{
		Direction: measure.Forward, Role: measure.Sender, Path: "splice", DurationNs: 1e9,
		Streams: []measure.Stream{{SentBytes: 1000}, {Index: 1, SentBytes: 2000}},
		Samples: []measure.Sample{{EndNs: 5e8, SentBytes: 1500}, {StartNs: 5e8, EndNs: 1e9, SentBytes: 1500}},
	}}}
}

func TestWhatAReceiverDoesNotTellIsWhatItsSystemAcknowledged(t *testing.T) {
	own := counted()
	r := &measure.Result{Test: measure.TestTCP, Options: measure.Options{Direction: measure.Forward}}
	acknowledged(own, r)
	assemble(r, own, &measure.End{}, nil)
	if len(r.Flows) != 1 || !r.Flows[0].Acknowledged || r.Flows[0].RXPath != "" || r.Summary.ReceivedBytes != 3000 || r.Summary.SentBytes != 3000 || r.Summary.GoodputBps != 24000 {
		t.Errorf("%+v", r)
	}
	wantFindings(t, "tcp", r, warning(finding.ReceivedIsAcknowledged, "forward", nil)...)
	if s := own.Flows[0]; s.Streams[0].ReceivedBytes != 0 || s.Samples[0].ReceivedBytes != 0 || s.Acknowledged {
		t.Errorf("the sender's own count became %+v", s)
	}
}

func TestNobodyKnowsWhatArrivedOfDatagramsThatAreNotTold(t *testing.T) {
	own := counted()
	r := &measure.Result{Test: measure.TestUDP, Options: measure.Options{Direction: measure.Forward}}
	acknowledged(own, r)
	assemble(r, own, &measure.End{}, nil)
	if r.Summary.ReceivedBytes != 0 || r.Summary.GoodputBps != 0 || r.Summary.LossRatio != nil || r.Summary.SentBytes != 3000 {
		t.Errorf("%+v", r)
	}
	wantFindings(t, "udp", r, warning(finding.ReceivedNotReported, "forward", nil)...)
}
