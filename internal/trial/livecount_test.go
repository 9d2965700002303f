package trial

import (
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

func TestATrialThatBreaksOffHasWhatItsReceiverToldUntilThen(t *testing.T) {
	var live liveCount
	passed := 0
	observe := live.of(func(measure.Progress) { passed++ })
	for i := range int64(3) {
		observe(measure.Progress{Role: measure.Receiver, Direction: measure.Forward, StartNs: i * 1e9, EndNs: (i + 1) * 1e9, Bytes: 500, Packets: 5, Lost: 5 * (i / 2)})
		observe(measure.Progress{Role: measure.Sender, Direction: measure.Forward, StartNs: i * 1e9, EndNs: (i + 1) * 1e9, Bytes: 9999})
	}
	for _, test := range []measure.Test{measure.TestTCP, measure.TestUDP} {
		r := &measure.Result{Test: test, Options: measure.Options{Direction: measure.Forward}}
		assemble(r, counted(), &measure.End{}, nil)
		live.into(r)
		s := r.Summary
		if s.ReceivedBytes != 1500 || s.GoodputBps != 4000 || s.DurationNs != 3e9 || s.SentBytes != 3000 || s.Confidence != measure.Low ||
			!s.ConfidenceFinding.Equal(measure.NewFinding(finding.BrokenOff, "", measure.Figures{"counted_ns": 3e9})) || len(r.Findings) > 0 {
			t.Errorf("%s: %+v, %+v", test, s, r.Findings)
		}
		if lost := s.LossRatio; test == measure.TestUDP && (lost == nil || *lost != 0.25 || s.PacketsReceived != 15 || s.PacketsSent != 20 || s.PacketsPerSecond != 5) {
			t.Errorf("packets: %+v", s)
		}
	}
	if passed != 6 {
		t.Errorf("%d of 6 intervals were passed on", passed)
	}
}

// A far end that says what this end received does not put it into the result.
func TestWhatThisEndReceivesIsNotTakenFromTheFarEnd(t *testing.T) {
	var live liveCount
	live.of(func(measure.Progress) {})(measure.Progress{Role: measure.Receiver, Direction: measure.Reverse, EndNs: 1e9, Bytes: 1e12})
	own := counted()
	own.Flows[0].Direction = measure.Reverse
	r := &measure.Result{Test: measure.TestTCP, Options: measure.Options{Direction: measure.Reverse}}
	assemble(r, own, &measure.End{}, nil)
	live.into(r)
	if len(r.Flows) != 1 || r.Summary.ReceivedBytes != 0 || r.Summary.GoodputBps != 0 {
		t.Errorf("%+v", r.Summary)
	}
}

func TestAReceiversOwnCountIsBetterThanWhatItToldMeanwhile(t *testing.T) {
	var live liveCount
	live.of(func(measure.Progress) {})(measure.Progress{Role: measure.Receiver, Direction: measure.Forward, EndNs: 1e9, Bytes: 1})
	r := resultOf(measure.TestTCP)
	own, other := tcpEnds(25_000_000, 24_900_000)
	assemble(r, own, other, nil)
	before := r.Summary
	live.into(r)
	if r.Summary.ReceivedBytes != before.ReceivedBytes || r.Summary.GoodputBps != before.GoodputBps || r.Summary.Confidence != before.Confidence {
		t.Errorf("%+v became %+v", before, r.Summary)
	}
}
