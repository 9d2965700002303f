package tcp

import (
	"testing"
	"time"

	_ "soku/internal/engine/latency" // the test that the probes are options of
	"soku/internal/measure"
	"soku/internal/measure/option"
)

func TestTheProbesOfALoadAreEffectiveOptions(t *testing.T) {
	o := option.Defaults(measure.TestTCP)
	o.Omit = measure.Duration(2 * time.Second)
	o, err := option.Effective(o, measure.TestTCP)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]measure.Options{"idle": IdleProbe(o), "load": LoadProbe(o)} {
		if again, err := option.Effective(p, measure.TestLatency); err != nil || again != p {
			t.Errorf("%s: %v", name, err)
		}
	}
	if p := LoadProbe(o); p.Omit+p.Duration != o.Omit+o.Duration {
		t.Errorf("the probe lasts %v, the load %v", p.Omit+p.Duration, o.Omit+o.Duration)
	}
}

func TestTheProbesOfALoadKeepItsPathAndTakeTheirTimes(t *testing.T) {
	const second = measure.Duration(time.Second)
	for _, c := range []struct{ load, omit, idle, start, beside measure.Duration }{
		{10 * second, 0, 2 * second, second, 9 * second},
		{10 * second, 3 * second, 2 * second, 4 * second, 9 * second},
		{second, 0, second, second / 5, second * 4 / 5}, // no longer than the load
		{0, 0, 2 * second, 0, 24 * 3600 * second},       // ends with the load
	} {
		o := option.Defaults(measure.TestTCP)
		o.Duration, o.Omit, o.Interval = c.load, c.omit, second/2
		o.DSCP, o.TOS, o.IPVersion, o.Port, o.ConnectTimeout = "EF", 184, 6, 4711, 7*second
		idle, load := IdleProbe(o), LoadProbe(o)
		if idle.Duration != c.idle || idle.Omit != 0 {
			t.Errorf("beside %v: idle for %v without %v", c.load, idle.Duration, idle.Omit)
		}
		if load.Duration != c.beside || load.Omit != c.start {
			t.Errorf("beside %v: %v without %v, want %v without %v", c.load, load.Duration, load.Omit, c.beside, c.start)
		}
		for _, p := range []measure.Options{idle, load} {
			if p.DSCP != "EF" || p.TOS != 184 || p.IPVersion != 6 || p.Port != 4711 || p.ConnectTimeout != 7*second {
				t.Errorf("the probe takes another path than the load: %+v", p)
			}
			if p.Interval != second/2 || p.RequestRate != probeRate {
				t.Errorf("the probe %+v", p)
			}
		}
	}
}
