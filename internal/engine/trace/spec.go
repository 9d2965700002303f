package trace

import (
	"slices"
	"time"

	"soku/internal/engine/probe"
	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/measure/option"
)

var _ = option.Register(option.Spec{
	Name: measure.TestTrace, Place: 60,
	Options:  slices.Concat(option.NetworkKeys, []string{"count", "interval", "flows", "timeout", "port"}),
	Own:      probe.Options{Probe: "udp", MaxHops: 30},
	Defaults: defaults(),
	Fill:     probe.FillPort,
	Check:    check,
	Length:   length,
	Payload:  func(measure.Options) (int64, bool) { return 0, true }, // the load of probes is negligible
	Metrics: metric.Set{
		Families: []*metric.Family{metric.RoundTripFamily, metric.ReportedFamily, metric.HopFamily},
		Ranking:  metric.RoundTripRanking(),
		Headline: [][]*metric.Definition{{metric.Hops}, {metric.RTTP50, metric.RTTMean}, {metric.RTTLoss}},
	},
})

func defaults() measure.Options {
	return measure.Options{
		ConnectTimeout: measure.Duration(5 * time.Second), Interval: measure.Duration(time.Second),
		Count: 10, Flows: 1, Timeout: measure.Duration(time.Second),
	}
}

// length assumes that each hop answers a burst of six flows and then one a second.
func length(o measure.Options) (measure.Duration, bool) {
	const atOnce = 6
	answers := measure.Duration(max(o.Flows-atOnce, 0)) * measure.Duration(probe.ErrorSpacing)
	return max(measure.Duration(o.Count)*o.Interval, answers), true
}

func check(o *measure.Options) error { return probe.CheckOptions(measure.TestTrace, o) }
