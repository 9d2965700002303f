package tcp

import (
	"strings"
	"testing"

	"soku/internal/measure"
)

func TestOptionsThatCannotBeMeasuredAreRefused(t *testing.T) {
	asIs := func(*measure.Options) {}
	via := func(v string) func(*measure.Options) { return func(o *measure.Options) { o.Via = v } }
	for _, c := range []struct {
		own    Options
		change func(*measure.Options)
		want   string
	}{
		{Options{Verify: true}, func(o *measure.Options) { o.RX = "discard" }, "verify needs the paths write and read"},
		{Options{Verify: true}, via(measure.ViaEthr), "verify does not go with via ethr"},
		{Options{WithLatency: true}, via(measure.ViaEthr), "with_latency does not go with via ethr"},
		{Options{Verify: true}, via(measure.ViaIperf3), "--verify"},
		{Options{WithLatency: true}, via(measure.ViaIperf3), "--with-latency"},
		{Options{Verify: true}, via(measure.ViaNtttcp), "verify: "},
		{Options{WithLatency: true}, via(measure.ViaNtttcp), "with-latency: "},
		{Options{Verify: true, WithLatency: true}, asIs, ""},
		{Options{}, via(measure.ViaNtttcp), ""},
	} {
		o := measure.Defaults(measure.TestTCP)
		o.Own = c.own
		c.change(&o)
		_, err := o.Effective(measure.TestTCP)
		if c.want == "" && err != nil || c.want != "" && (measure.KindOf(err) != measure.KindUsage || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: got %v, want %q", c.own, err, c.want)
		}
	}
}
