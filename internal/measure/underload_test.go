package measure

import (
	"math"
	"testing"
	"time"
)

func TestRPMLeavesTheSlowestTwentiethOut(t *testing.T) {
	h := NewHistogram()
	for i := range 100 {
		d := 10 * time.Millisecond
		switch {
		case i >= 95:
			d = 5 * time.Second
		case i >= 90:
			d = 20 * time.Millisecond
		}
		h.Record(int64(d))
	}
	if got := RPM(h); math.Abs(got-5700) > 10 {
		t.Errorf("%.1f RPM, want 5700: 90 round trips of 10 ms and 5 of 20 ms take a second", got)
	}
	if got := RPM(NewHistogram()); got != 0 {
		t.Errorf("%.1f RPM of nothing", got)
	}
}
