package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"soku/internal/measure"
)

// stall is a time in seconds in which the receiver counts nothing.
type stall struct{ at, length float64 }

// stalledTrial makes samples of 100 ms of a path of 1e8 bytes a second whose receiver stalls. After a
// stall it counts all that has arrived at catchUp times the rate of the path. After the trial the
// queues drain for 0.2 s.
func stalledTrial(seconds, catchUp float64, stalls []stall) (samples []measure.Sample) {
	const step = 0.001
	arrived, counted, before := 0.0, 0.0, 0.0
	for i := range int(math.Round((seconds + 0.2) / step)) {
		now := float64(i) * step
		arrived += 1e8 * step * min(1, (now+0.01)/0.03) // slow start
		if !slices.ContainsFunc(stalls, func(s stall) bool { return now >= s.at && now < s.at+s.length }) {
			counted = min(arrived, counted+catchUp*1e8*step)
		}
		if (i+1)%100 == 0 {
			from := int64(i+1-100) * ms
			samples = append(samples, measure.Sample{StartNs: from, EndNs: from + 100*ms, ReceivedBytes: int64(counted - before)})
			before = counted
		}
	}
	return samples
}

// A busy host keeps the receiver from its processor, several times a second. Alone, the bytes that it
// then counts together are more than the path carries.
func TestAStallAndWhatFollowsItCountTogether(t *testing.T) {
	for _, seconds := range []float64{1, 2, 5} {
		r := rand.New(rand.NewPCG(5, uint64(seconds)))
		const trials = 1000
		high, wrong, worst := 0, 0, 0.0
		for range trials {
			stalls := make([]stall, 1+r.IntN(int(3*seconds)))
			for i := range stalls {
				stalls[i] = stall{r.Float64() * seconds, 0.01 + 0.09*r.Float64()}
			}
			got := SteadyState(stalledTrial(seconds, 1.5+20*r.Float64()*r.Float64(), stalls), int64(seconds*1e9))
			if got.Confidence != measure.High {
				continue
			}
			high++
			if off := math.Abs(got.Bps()/8e8 - 1); off > 0.012 {
				wrong++
				worst = max(worst, off)
			}
		}
		t.Logf("%g s: %d of %d are high, %d of them wrong, by up to %.1f %%", seconds, high, trials, wrong, 100*worst)
		if wrong > high/50 {
			t.Errorf("%g s: %d of %d are high and off by more than 1.2 %%, up to %.1f %%", seconds, wrong, high, 100*worst)
		}
	}
}

func TestAChangeOfTheRateIsNoStall(t *testing.T) {
	// The rate falls for two seconds, and a burst of one second follows.
	samples := trace(10, func(s float64) float64 {
		switch {
		case s > 4 && s < 6:
			return 0.5e8
		case s > 6 && s < 7:
			return 1.5e8
		}
		return 1e8
	})
	if found := stalls(samples, longestStall); len(found) != 0 {
		t.Errorf("%+v", found)
	}
	samples = trace(10, func(s float64) float64 {
		switch {
		case s > 4 && s < 4.2:
			return 0.5e8
		case s > 4.2 && s < 4.3:
			return 2e8
		}
		return 1e8
	})
	if found := stalls(samples, longestStall); len(found) != 1 || found[0] != (span{4000 * ms, 4300 * ms}) {
		t.Errorf("%+v", found)
	}
}
