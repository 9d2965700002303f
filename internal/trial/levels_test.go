package trial

import (
	"math"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// twoLevels are ends of a TCP flow of 20 s whose rate falls to a share of it after 8 s.
func twoLevels(share float64, streams int) (own, other *measure.End) {
	own, other = tcpEnds(0, 0)
	samples := steadySamples(200, 12_500_000)
	for i := 80; i < 200; i++ {
		samples[i].ReceivedBytes = int64(12_500_000 * share)
	}
	other.Flows[0].Samples, other.Flows[0].DurationNs, own.Flows[0].DurationNs = samples, 20e9, 20e9
	other.Flows[0].Streams, own.Flows[0].Streams = nil, nil
	for i := range streams {
		far, near := measure.Stream{Index: i, Samples: steadySamples(200, 1)}, measure.Stream{Index: i, TCP: &measure.TCPInfo{}, Samples: steadySamples(200, 0)}
		for j := range near.Samples {
			near.Samples[j].TCP = &measure.TCPInfo{Congestion: "cubic"}
		}
		other.Flows[0].Streams, own.Flows[0].Streams = append(other.Flows[0].Streams, far), append(own.Flows[0].Streams, near)
	}
	return own, other
}

// lossAt is a retransmission of a stream in its sample of that index.
func lossAt(e *measure.End, sample int, congestion string) {
	for i := range e.Flows[0].Streams[0].Samples {
		info := e.Flows[0].Streams[0].Samples[i].TCP
		if info.Congestion = congestion; i >= sample {
			info.Retransmits = 3
		}
	}
}

func levelFindings(own, other *measure.End) (out []measure.Finding) {
	r := resultOf(measure.TestTCP)
	r.Options.Duration = measure.Duration(20e9)
	assemble(r, own, other, nil)
	for _, f := range r.Findings {
		if f.Code == finding.RateLevels {
			out = append(out, f)
		}
	}
	return out
}

func TestARateOfTwoLevelsIsAFindingWithTheChange(t *testing.T) {
	for _, streams := range []int{1, 4} {
		got := levelFindings(twoLevels(0.6, streams))
		if len(got) != 1 || got[0].Where != "forward" {
			t.Fatalf("%d streams: %+v", streams, got)
		}
		for key, want := range map[string]float64{"levels": 2, "at_ns": 8e9, "from_bps": 1e9, "to_bps": 0.6e9} {
			if v, _ := got[0].Number(key); v != want {
				t.Errorf("%d streams: %s is %v, want %v", streams, key, v, want)
			}
		}
	}
	if got := levelFindings(twoLevels(1, 1)); got != nil {
		t.Errorf("a steady rate has %+v", got)
	}
}

func TestADropThatALossExplainsIsNoLevel(t *testing.T) {
	for _, c := range []struct {
		name       string
		share      float64
		sample     int
		congestion string
		found      int
	}{
		{"cubic keeps 0.7 after a loss", 0.72, 79, "cubic", 0},
		{"deeper than one loss", 0.5, 79, "cubic", 1},
		{"reno keeps half", 0.52, 79, "reno", 0},
		{"the loss was long before", 0.72, 30, "cubic", 1},
		{"bbr does not slow down on a loss", 0.72, 79, "bbr", 1},
	} {
		own, other := twoLevels(c.share, 1)
		lossAt(own, c.sample, c.congestion)
		if got := levelFindings(own, other); len(got) != c.found {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	// The times are the receiver's, which may be wrong.
	own, other := twoLevels(0.72, 1)
	lossAt(own, 100, "cubic")
	other.Flows[0].Streams[0].Samples[100].StartNs, other.Flows[0].Streams[0].Samples[100].EndNs = 0, math.MaxInt64
	if got := levelFindings(own, other); got != nil {
		t.Errorf("a loss at any time: %+v", got)
	}
	own, other = twoLevels(0.5, 1)
	own.Flows[0].Streams[0].Samples = nil
	if got := levelFindings(own, other); got != nil {
		t.Errorf("without the sender's losses: %+v", got)
	}
}
