package connect

import (
	"cmp"
	"slices"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/measure/option"
)

// Options are those that only the connect test has.
type Options struct {
	Close   string `json:"close,omitempty" yaml:"close" flag:"close" enum:"auto rst fin" help:"how connections are closed: rst (the client resets, no TIME-WAIT), fin (normal close; a soku server closes first), auto: rst against a soku server on Linux, else fin"`
	Entry   string `json:"entry,omitempty" yaml:"entry" flag:"entry" enum:"auto session main" help:"port of a soku server that accepts the connections: session (a separate port for this test), main (the server's port, slower), auto: session, or main if a firewall blocks it"`
	ToPort  int    `json:"to_port,omitempty" yaml:"to_port" flag:"to-port" max:"65535" help:"connect to this port of the host, to any TCP service; needs no soku server, and opens 100 connections per second by default (--request-rate)"`
	Sources string `json:"sources,omitempty" yaml:"sources" flag:"sources" help:"local addresses to connect from, used in turn, separated by commas"`
}

// OptionsOf returns the options that only the connect test has.
func OptionsOf(o measure.Options) Options { return measure.OwnOptions[Options](o) }

var _ = option.Register(option.Spec{
	Name: measure.TestConnect, Place: 40,
	Options: slices.Concat(option.NetworkKeys, option.ServerKeys, option.TimedKeys, []string{
		"series", "count", "streams", "size", "request_rate",
	}),
	Own:      Options{Close: "auto", Entry: "auto"},
	Defaults: defaults(),
	Check:    check,
	Server:   true,
	External: func(o measure.Options) bool { return OptionsOf(o).ToPort != 0 },
	Via:      via,
	Held:     true,
	Length: func(o measure.Options) (measure.Duration, bool) {
		if o.Count > 0 {
			return option.AmountLength(float64(o.Count), o.RequestRate)
		}
		return option.DurationLength(o)
	},
	Payload: func(o measure.Options) (int64, bool) {
		if o.Size == 0 { // a connection without a request carries no payload
			return 0, true
		}
		return option.ExchangePayload(o)
	},
	Metrics: metric.Set{
		Families: []*metric.Family{metric.ConnectionFamily, metric.RoundTripFamily, metric.ReportedFamily},
		Ranking:  append([]*metric.Definition{metric.Connections}, metric.RoundTripRanking()...),
		Headline: append([][]*metric.Definition{{metric.Connections}}, metric.RoundTripHeadline()...),
	},
})

func defaults() measure.Options {
	o := option.Timed()
	o.Streams, o.Via, o.Series = 1, option.ViaSoku, measure.SeriesOn
	return o
}

// Limits for third-party servers.
const (
	foreignRate     = 100    // connections a second unless asked otherwise
	foreignRateMost = 10_000 // and at most
)

func check(o *measure.Options) error {
	own := OptionsOf(*o)
	if own.Sources != "" {
		if o.Bind != "" {
			return measure.Fail(measure.KindUsage, "connect.bind_and_sources", nil)
		}
		if _, err := ParseSources(own.Sources); err != nil {
			return err
		}
	}
	if own.ToPort == 0 {
		return nil
	}
	if o.Size > 0 {
		return measure.Fail(measure.KindUsage, "connect.size_and_to_port", nil).WithHintCode("leave_out_one", nil)
	}
	if own.Entry != "auto" {
		return measure.Fail(measure.KindUsage, "connect.entry_and_to_port", measure.Figures{"entry": own.Entry}).WithHintCode("leave_out_one", nil)
	}
	o.RequestRate = cmp.Or(o.RequestRate, foreignRate)
	if o.RequestRate > foreignRateMost {
		return measure.Fail(measure.KindUsage, "connect.request_rate", measure.Figures{
			"rate_per_second": o.RequestRate, "most_per_second": foreignRateMost,
		})
	}
	return nil
}

// via refuses what the ports of Ethr's server do not offer.
func via(o measure.Options) error {
	own := OptionsOf(o)
	switch {
	case o.Via != option.ViaEthr:
		return nil
	case o.Size > 0:
		return measure.Fail(measure.KindUsage, "option.ethr.size", nil).WithHintCode("leave_out_one", nil)
	case own.Entry != "auto":
		return measure.Fail(measure.KindUsage, "option.ethr.entry", measure.Figures{"entry": own.Entry}).WithHintCode("leave_out_one", nil)
	case own.ToPort != 0:
		return measure.Fail(measure.KindUsage, "option.ethr.to_port", nil).WithHintCode("leave_out_one", nil)
	}
	return nil
}
