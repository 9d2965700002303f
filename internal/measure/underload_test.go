package measure

import (
	"math"
	"testing"
	"time"
)

func TestRPMLeavesTheSlowestTwentiethOut(t *testing.T) {
	h := NewHistogram()
	for range 95 {
		h.Record(int64(10 * time.Millisecond))
	}
	for range 5 {
		h.Record(int64(5 * time.Second))
	}
	if got := RPM(h); math.Abs(got-6000) > 10 {
		t.Errorf("%.1f RPM, want 6000: ten milliseconds each", got)
	}
	if got := RPM(NewHistogram()); got != 0 {
		t.Errorf("%.1f RPM of nothing", got)
	}
}

func TestTheProbesOfALoadAreEffectiveOptions(t *testing.T) {
	o := Defaults(TestTCP)
	o.WithLatency, o.Omit = true, Duration(2*time.Second)
	for name, p := range map[string]Options{"idle": o.IdleProbe(), "load": o.LoadProbe()} {
		if again, err := p.Effective(TestLatency); err != nil || again != p {
			t.Errorf("%s: %v", name, err)
		}
	}
	if p := o.LoadProbe(); p.Omit+p.Duration != o.Omit+o.Duration {
		t.Errorf("the probe lasts %v, the load %v", p.Omit+p.Duration, o.Omit+o.Duration)
	}
}
