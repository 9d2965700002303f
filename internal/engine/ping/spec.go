package ping

import (
	"time"

	"soku/internal/measure"
)

var _ = measure.Register(measure.Spec{
	Name: measure.TestPing, Place: 50,
	Options: []string{
		"duration", "count", "interval", "size", "spacing", "timeout", "dscp", "tos", "ip_version", "bind",
		"device", "connect_timeout",
	},
	Defaults: defaults(),
	Length: func(o measure.Options) (measure.Duration, bool) {
		if o.Count > 0 {
			return measure.Duration(o.Count) * o.Spacing, true
		}
		return measure.DurationLength(o)
	},
	Payload: func(o measure.Options) (int64, bool) {
		n := o.Count
		if n == 0 {
			n = int64(o.Duration.Std().Seconds() / o.Spacing.Std().Seconds())
		}
		return 2 * n * int64(o.Size), true
	},
	Metrics: measure.TestMetrics{
		Families: []*measure.Family{measure.RoundTripFamily, measure.ReportedFamily},
		Ranking:  measure.RoundTripRanking(),
		Headline: measure.RoundTripHeadline(),
	},
})

func defaults() measure.Options {
	o := measure.Timed()
	o.Size, o.Spacing, o.Timeout = 56, measure.Duration(100*time.Millisecond), measure.Duration(time.Second)
	return o
}
