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

func TestTheProbesOfALoadAreEffectiveOptions(t *testing.T) {
	o := Defaults(TestTCP)
	o.Omit = Duration(2 * time.Second)
	o, err := o.Effective(TestTCP)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]Options{"idle": o.IdleProbe(), "load": o.LoadProbe()} {
		if again, err := p.Effective(TestLatency); err != nil || again != p {
			t.Errorf("%s: %v", name, err)
		}
	}
	if p := o.LoadProbe(); p.Omit+p.Duration != o.Omit+o.Duration {
		t.Errorf("the probe lasts %v, the load %v", p.Omit+p.Duration, o.Omit+o.Duration)
	}
}

func TestTheProbesOfALoadKeepItsPathAndTakeTheirTimes(t *testing.T) {
	const second = Duration(time.Second)
	for _, c := range []struct{ load, omit, idle, start, beside Duration }{
		{10 * second, 0, 2 * second, second, 9 * second},
		{10 * second, 3 * second, 2 * second, 4 * second, 9 * second},
		{second, 0, second, second / 5, second * 4 / 5}, // no longer than the load
		{0, 0, 2 * second, 0, 24 * 3600 * second},       // ends with the load
	} {
		o := Defaults(TestTCP)
		o.Duration, o.Omit, o.Interval = c.load, c.omit, second/2
		o.DSCP, o.TOS, o.IPVersion, o.Port, o.ConnectTimeout = "EF", 184, 6, 4711, 7*second
		idle, load := o.IdleProbe(), o.LoadProbe()
		if idle.Duration != c.idle || idle.Omit != 0 {
			t.Errorf("beside %v: idle for %v without %v", c.load, idle.Duration, idle.Omit)
		}
		if load.Duration != c.beside || load.Omit != c.start {
			t.Errorf("beside %v: %v without %v, want %v without %v", c.load, load.Duration, load.Omit, c.beside, c.start)
		}
		for _, p := range []Options{idle, load} {
			if p.DSCP != "EF" || p.TOS != 184 || p.IPVersion != 6 || p.Port != 4711 || p.ConnectTimeout != 7*second {
				t.Errorf("the probe takes another path than the load: %+v", p)
			}
			if p.Interval != second/2 || p.RequestRate != probeRate {
				t.Errorf("the probe %+v", p)
			}
		}
	}
}
