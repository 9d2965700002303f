package mtu

import (
	"slices"
	"time"

	"soku/internal/engine/probe"
	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/measure/option"
)

var _ = option.Register(option.Spec{
	Name: measure.TestMTU, Place: 70,
	Options:  slices.Concat(option.NetworkKeys, []string{"count", "flows", "timeout", "port"}),
	Own:      probe.Options{MaxHops: 30},
	Defaults: defaults(),
	Fill:     fill,
	Check:    check,
	Length: func(o measure.Options) (measure.Duration, bool) {
		return measure.Duration(max(o.Flows, 1)) * assumedSearch, true
	},
	Payload: func(measure.Options) (int64, bool) { return 0, true }, // the load of probes is negligible
	Metrics: metric.Set{
		Families: []*metric.Family{metric.PathMTUFamily},
		Ranking:  []*metric.Definition{metric.PathMTU},
		Headline: [][]*metric.Definition{{metric.PathMTU}},
	},
})

func defaults() measure.Options {
	return measure.Options{
		ConnectTimeout: measure.Duration(5 * time.Second), Flows: 1, Count: 3, Timeout: measure.Duration(time.Second),
	}
}

// fill sets what is absent in options of earlier versions, which had one flow, and the kind
// of probes: echo, and for several flows UDP, because routers spread flows by their ports.
func fill(o *measure.Options) {
	o.Flows = max(o.Flows, 1)
	measure.EditOwn(o, func(own *probe.Options) {
		switch {
		case own.Probe != "":
		case o.Flows > 1:
			own.Probe = "udp"
		default:
			own.Probe = "icmp"
		}
	})
	probe.FillPort(o)
}

// maxTries is how often a size may be tried.
const maxTries = 100

// assumedSearch is the assumed time of a search whose result is not the interface's MTU.
const assumedSearch = measure.Duration(10 * time.Second)

func check(o *measure.Options) error {
	if probe.OptionsOf(*o).Probe == "tcp" {
		return measure.Fail(measure.KindUsage, "mtu.probe", nil)
	}
	if o.Count > maxTries {
		return measure.Fail(measure.KindUsage, "mtu.count", measure.Figures{"count": o.Count, "most": maxTries})
	}
	return probe.CheckOptions(measure.TestMTU, o)
}
