package iperf3

import (
	"testing"

	"soku/internal/engine/udp"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/wire"
)

func TestSocketOptionsAreSentToTheServer(t *testing.T) {
	for test, c := range map[measure.Test]struct {
		set  func(*measure.Options)
		want Parameters
	}{
		measure.TestTCP: {func(o *measure.Options) { o.Multipath = true }, Parameters{MPTCP: true}},
		measure.TestUDP: {func(o *measure.Options) { o.FlowLabel, o.Own = 7, udp.Options{NoFragment: true} }, Parameters{FlowLabel: 7, DontFragment: true}},
	} {
		o := option.Defaults(test)
		o.Via = option.ViaIperf3
		c.set(&o)
		o, err := option.Effective(o, test)
		if err != nil {
			t.Fatal(err)
		}
		p, err := ParametersFor(wire.Request{Test: test, Options: o})
		if err != nil || p.MPTCP != c.want.MPTCP || p.FlowLabel != c.want.FlowLabel || p.DontFragment != c.want.DontFragment {
			t.Errorf("%s: %+v, %v", test, p, err)
		}
	}
}
