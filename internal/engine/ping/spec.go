package ping

import (
	"slices"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/measure/option"
)

// Options are the options that only the ping test has.
type Options struct {
	Spacing measure.Duration `json:"spacing_ns,omitempty" yaml:"spacing" flag:"spacing" min:"1000000" max:"3600000000000" help:"time between echo requests"`
}

// spacingOf returns the option spacing.
func spacingOf(o measure.Options) measure.Duration { return measure.OwnOptions[Options](o).Spacing }

// RequestRate is how many echo requests a second are due.
func RequestRate(o measure.Options) float64 {
	if spacing := spacingOf(o); spacing > 0 {
		return 1e9 / float64(spacing)
	}
	return 0
}

var _ = option.Register(option.Spec{
	Name: measure.TestPing, Place: 50,
	Options:  slices.Concat(option.NetworkKeys, option.TimedKeys, []string{"series", "count", "size", "timeout"}),
	Own:      Options{Spacing: measure.Duration(100 * time.Millisecond)},
	Defaults: defaults(),
	Check:    checkSpacing,
	Length: func(o measure.Options) (measure.Duration, bool) {
		if o.Count > 0 {
			return measure.Duration(o.Count) * spacingOf(o), true
		}
		return option.DurationLength(o)
	},
	Payload: func(o measure.Options) (int64, bool) {
		n := o.Count
		if n == 0 {
			n = int64(o.Duration.Std().Seconds() / spacingOf(o).Std().Seconds())
		}
		return 2 * n * int64(o.Size), true
	},
	Metrics: metric.Set{
		Families: []*metric.Family{metric.RoundTripFamily, metric.ReportedFamily},
		Ranking:  metric.RoundTripRanking(),
		Headline: metric.RoundTripHeadline(),
	},
})

// checkSpacing refuses a test with time for one request only.
func checkSpacing(o *measure.Options) error {
	if spacing := spacingOf(*o); o.Count == 0 && spacing > o.Duration {
		return measure.Fail(measure.KindUsage, "ping.spacing", measure.Figures{"spacing_ns": spacing, "duration_ns": o.Duration})
	}
	return nil
}

func defaults() measure.Options {
	o := option.Timed()
	o.Size, o.Timeout, o.Series = 56, measure.Duration(time.Second), measure.SeriesOff
	return o
}
