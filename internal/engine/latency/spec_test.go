package latency

import (
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/option"
)

func TestOptionsThatCannotBeMeasuredAreRefused(t *testing.T) {
	asIs := func(*measure.Options) {}
	size := func(n measure.Size) func(*measure.Options) { return func(o *measure.Options) { o.Size = n } }
	scheduled := func(o *measure.Options) { o.RequestRate = 5 }
	viaEthr := func(o *measure.Options) { o.Via = option.ViaEthr }
	for _, c := range []struct {
		own    func(*Options)
		change func(*measure.Options)
		want   string
	}{
		{func(own *Options) { own.Protocol = "sctp" }, asIs, "protocol"},
		{func(own *Options) { own.OneWay = true }, scheduled, "one_way and request_rate exclude each other"},
		{func(own *Options) { own.Arrivals = "poisson" }, asIs, "arrivals poisson has no rate"},
		{func(own *Options) { own.Spin = "maybe" }, asIs, "spin \"maybe\" is not one of its values; use auto, on, off"},
		{func(own *Options) { own.OneWay = true }, size(23), "needs at least 24 bytes over tcp"},
		{func(own *Options) { own.OneWay, own.Protocol = true, "udp" }, size(43), "needs at least 44 bytes over udp"},
		{func(own *Options) { own.Stamps = "halved" }, asIs, "stamps \"halved\" is not one of its values; use auto, on, off, split"},
		{func(own *Options) { own.Stamps = "split" }, scheduled, "stamps split and request_rate exclude each other"},
		{func(own *Options) { own.Stamps = "split" }, size(23), "needs at least 24 bytes over tcp"},
		{func(own *Options) { own.Stamps, own.Protocol = "split", "udp" }, size(43), "needs at least 44 bytes over udp"},
		{func(own *Options) { own.Protocol = "udp" }, func(o *measure.Options) { o.Multipath = true }, "mptcp does not go with protocol udp"},
		{func(own *Options) { own.Protocol = "udp" }, viaEthr, "protocol udp does not go with via ethr"},
		{func(own *Options) { own.OneWay = true }, viaEthr, "one_way does not go with via ethr"},
		{func(own *Options) { own.Stamps = "split" }, viaEthr, "stamps split does not go with via ethr"},
		{func(own *Options) { own.Spin = "on" }, viaEthr, "spin on does not go with via ethr"},
	} {
		o := option.Defaults(measure.TestLatency)
		measure.EditOwn(&o, c.own)
		c.change(&o)
		if _, err := option.Effective(o, measure.TestLatency); measure.KindOf(err) != measure.KindUsage || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want a usage error with %q", err, c.want)
		}
	}
}

func TestAbsentOptionsOfAnOlderProgramAreTheDefaults(t *testing.T) {
	o := option.Defaults(measure.TestLatency)
	o.Flows = 0
	measure.EditOwn(&o, func(own *Options) { own.Arrivals, own.Spin, own.Stamps = "", "", "" })
	got, err := option.Effective(o, measure.TestLatency)
	if want, _ := option.Effective(option.Defaults(measure.TestLatency), measure.TestLatency); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
}
