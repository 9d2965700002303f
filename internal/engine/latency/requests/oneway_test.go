package requests

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestOneWayDelaysAreWithinTheirError: a clock that is ahead and runs faster, a
// path that is longer up than down, and queues.
func TestOneWayDelaysAreWithinTheirError(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, drift := range []float64{0, 30e-6, -30e-6} {
		const up, down, ahead = 70e3, 50e3, 5e15
		var o oneWay
		server := func(at float64) int64 { return int64(ahead + at*(1+drift)) }
		for i := range 200_000 {
			t1 := float64(i) * 100e3
			there, back := up+random.ExpFloat64()*20e3, down+random.ExpFloat64()*20e3
			o.add(fourTimes{int64(t1), server(t1 + there), server(t1 + there + 3e3), int64(t1 + there + 3e3 + back)})
		}
		r := o.result()
		if r.Exchanges > mostKept || r.Exchanges < mostKept/2 {
			t.Errorf("%d exchanges kept", r.Exchanges)
		}
		// The medians of the truth: the least, and ln 2 of the mean queue.
		for what, off := range map[string]float64{
			"up": r.UpNs.P50 - (up + math.Ln2*20e3), "down": r.DownNs.P50 - (down + math.Ln2*20e3),
			"offset": float64(r.ClockOffsetNs - server(0)),
		} {
			if math.Abs(off) > float64(r.ClockErrorNs) {
				t.Errorf("drift %v: %s is off by %.0f, over the error of %d", drift, what, off, r.ClockErrorNs)
			}
		}
		if r.ClockErrorNs > (up+down)/2*1.02 || math.Abs(r.ClockDriftPPM-drift*1e6) > 0.5 {
			t.Errorf("error %d, drift %.2f ppm instead of %.0f", r.ClockErrorNs, r.ClockDriftPPM, drift*1e6)
		}
	}
}
