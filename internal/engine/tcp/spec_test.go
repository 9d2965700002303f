package tcp

import (
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/option"
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
		{Options{Verify: true}, via(option.ViaEthr), "verify does not go with via ethr"},
		{Options{WithLatency: true}, via(option.ViaEthr), "with_latency does not go with via ethr"},
		{Options{Verify: true}, via(option.ViaIperf3), "--verify"},
		{Options{WithLatency: true}, via(option.ViaIperf3), "--with-latency"},
		{Options{Verify: true}, via(option.ViaNtttcp), "verify: "},
		{Options{WithLatency: true}, via(option.ViaNtttcp), "with-latency: "},
		{Options{Verify: true, WithLatency: true}, asIs, ""},
		{Options{}, via(option.ViaNtttcp), ""},
	} {
		o := option.Defaults(measure.TestTCP)
		o.Own = c.own
		c.change(&o)
		_, err := option.Effective(o, measure.TestTCP)
		if c.want == "" && err != nil || c.want != "" && (measure.KindOf(err) != measure.KindUsage || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: got %v, want %q", c.own, err, c.want)
		}
	}
}
