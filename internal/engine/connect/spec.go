package connect

import "soku/internal/measure"

var _ = measure.Register(measure.Spec{
	Name: measure.TestConnect, Place: 40,
	Options: []string{
		"duration", "count", "interval", "streams", "pin", "size", "request_rate", "close", "entry", "to_port",
		"sources", "dscp", "tos", "via", "ip_version", "bind", "device", "port", "connect_timeout",
	},
	Defaults: defaults(),
	Check:    check,
	Server:   true,
	Held:     true,
	Length: func(o measure.Options) (measure.Duration, bool) {
		if o.Count > 0 {
			return measure.AmountLength(float64(o.Count), o.RequestRate)
		}
		return measure.DurationLength(o)
	},
	Payload: func(o measure.Options) (int64, bool) {
		if o.Size == 0 { // a connection without a request carries no payload
			return 0, true
		}
		return o.ExchangePayload()
	},
	Metrics: measure.TestMetrics{
		Families: []*measure.Family{measure.ConnectionFamily, measure.RoundTripFamily, measure.ReportedFamily},
		Ranking:  append([]*measure.Metric{measure.MetricConnections}, measure.RoundTripRanking()...),
		Headline: append([][]*measure.Metric{{measure.MetricConnections}}, measure.RoundTripHeadline()...),
	},
})

func defaults() measure.Options {
	o := measure.Timed()
	o.Streams, o.Close, o.Entry, o.Via = 1, "auto", "auto", measure.ViaSoku
	return o
}

// Limits for third-party servers.
const (
	foreignRate     = 100    // connections a second unless asked otherwise
	foreignRateMost = 10_000 // and at most
)

func check(o *measure.Options) error {
	if o.Sources != "" {
		if o.Bind != "" {
			return measure.Errorf(measure.KindUsage, "bind and sources exclude each other").WithHint("give all addresses in --sources")
		}
		if _, err := measure.ParseSources(o.Sources); err != nil {
			return err
		}
	}
	if o.ToPort == 0 {
		return nil
	}
	if o.Size > 0 {
		return measure.Errorf(measure.KindUsage, "size and to_port exclude each other: only a soku server answers the request").WithHint("leave out one of them")
	}
	if o.Entry != "auto" {
		return measure.Errorf(measure.KindUsage, "entry %s and to_port exclude each other: there is no soku server", o.Entry).WithHint("leave out one of them")
	}
	if o.RequestRate == 0 {
		o.RequestRate = foreignRate
	}
	if o.RequestRate > foreignRateMost {
		return measure.Errorf(measure.KindUsage, "request_rate %g: exceeds the limit for third-party servers", o.RequestRate).WithHint("at most %d with --to-port; against a soku server there is no limit", foreignRateMost)
	}
	return nil
}
