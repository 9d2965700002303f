package verdict

import (
	"testing"
	"time"

	"soku/internal/measure"
)

func TestAStepIsFoundWhereItIs(t *testing.T) {
	r, _, _ := transfer()
	for i := range r.Flows[0].Samples {
		if i >= 17 {
			r.Flows[0].Samples[i].ReceivedBytes = 250_000
		}
	}
	wantFigures(t, FiguresOf(r, measure.Forward), example{StepTimes: 5, StepAt: 1.7e9, StepFit: 1, StepNoise: 0})
	for i := range r.Flows[0].Samples { // as those of a trial of two hours
		s := &r.Flows[0].Samples[i]
		s.StartNs, s.EndNs, s.ReceivedBytes = s.StartNs*4, s.EndNs*4, s.ReceivedBytes*4
	}
	r.Options.Duration *= 4
	wantFigures(t, FiguresOf(r, measure.Forward), example{StepTimes: 5, StepAt: 6.8e9, StepFit: 1})
}

// The split is the one that leaves the least variance of both parts, whatever the noise.
func TestTheStepLeavesTheLeastVariance(t *testing.T) {
	r, _, _ := transfer()
	var rates []float64
	for i := range r.Flows[0].Samples {
		s := &r.Flows[0].Samples[i]
		s.ReceivedBytes = 200_000 + int64(i*i*7919%300_000)
		rates = append(rates, s.Bps())
	}
	v := rates[1 : len(rates)-3]
	left, at := squares(v), 0
	for k := 2; k < len(v)-3; k++ {
		if both := squares(v[:k]) + squares(v[k:]); both < left {
			left, at = both, k
		}
	}
	wantFigures(t, FiguresOf(r, measure.Forward), example{StepAt: float64(at+1) * 1e8, StepFit: 1 - left/squares(v), StepTimes: mean(v[:at]) / mean(v[at:])})
}

func TestDatagramsThatAPolicerDropsVaryLessThanByChance(t *testing.T) {
	loss, drops := 0.2, int64(10)
	flow := measure.Flow{Direction: measure.Forward, Summary: measure.Summary{LossRatio: &loss, SocketDrops: &drops, PacketsLost: 8000, SentBytes: 56e6, ReceivedBytes: 45e6}}
	for i := range int64(40) {
		flow.Samples = append(flow.Samples, measure.Sample{StartNs: i * 1e8, EndNs: (i + 1) * 1e8, ReceivedBytes: 1, Packets: 800, Lost: 200})
	}
	r := &measure.Result{Test: measure.TestUDP, Flows: []measure.Flow{flow}, Options: measure.Options{Direction: measure.Forward, Size: 1400, Duration: measure.Duration(4 * time.Second)}}
	wantFigures(t, FiguresOf(r, measure.Forward), example{LossRatio: 0.2, SocketDrops: 10.0 / 8000, LossVariance: 0, DatagramBytes: 1400})
	// Every other interval 40 datagrams more or less: a standard deviation of 4 %, where chance has 1.26 %.
	for i := range r.Flows[0].Samples {
		s := &r.Flows[0].Samples[i]
		s.Lost += int64(40 * (2*(i%2) - 1))
		s.Packets = 1000 - s.Lost
	}
	wantFigures(t, FiguresOf(r, measure.Forward), example{LossVariance: 0.04 * 0.04 * 1.4826 * 1.4826 * 1000 / 0.16})
}

// Of what a sender on a busy host sends more, a limit loses all and chance its share.
func TestDatagramsSentInAdditionShowALimit(t *testing.T) {
	for want, lost := range map[float64]func(sent int64) int64{
		0: func(sent int64) int64 { return sent / 4 },
		1: func(sent int64) int64 { return sent - 300 },
	} {
		flow := measure.Flow{Direction: measure.Forward}
		for i := range int64(40) {
			n := 400 + 40*(i%5)
			flow.Samples = append(flow.Samples, measure.Sample{StartNs: i * 1e8, EndNs: (i + 1) * 1e8, Packets: n - lost(n), Lost: lost(n)})
		}
		r := &measure.Result{Test: measure.TestUDP, Flows: []measure.Flow{flow}, Options: measure.Options{Direction: measure.Forward, Size: 1400}}
		wantFigures(t, FiguresOf(r, measure.Forward), example{LossOfMore: want})
	}
}
