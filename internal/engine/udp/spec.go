package udp

import (
	"cmp"
	"slices"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/measure/option"
	"soku/internal/sock"
)

// Options are those that only the UDP test has.
type Options struct {
	NoFragment bool `json:"dont_fragment,omitempty" yaml:"dont_fragment" flag:"dont-fragment" help:"set Don't Fragment (Linux): a datagram larger than the known path MTU ends the test"`
}

// OptionsOf returns the options that only the UDP test has.
func OptionsOf(o measure.Options) Options { return measure.OwnOptions[Options](o) }

// Set implements [sock.Setter].
func (o Options) Set(s *sock.Settings) { s.NoFragment = o.NoFragment }

var _ = option.Register(option.Spec{
	Name: measure.TestUDP, Place: 20,
	Options: slices.Concat(option.NetworkKeys, option.ServerKeys, option.TimedKeys, option.LoadKeys, []string{
		"series", "omit", "size", "flow_label",
	}),
	Own:         Options{},
	Defaults:    defaults(),
	Fill:        func(o *measure.Options) { o.TX, o.RX = cmp.Or(o.TX, "auto"), cmp.Or(o.RX, "auto") },
	Check:       check,
	TX:          []string{"auto", "write", "batch", "gso"},
	RX:          []string{"auto", "read", "batch", "gro"},
	Server:      true,
	Via:         via,
	Connections: func(o measure.Options) int { return o.Streams * len(o.Direction.Flows()) },
	Datagrams:   func(measure.Options) bool { return true },
	Length: func(o measure.Options) (measure.Duration, bool) {
		if o.Bytes > 0 {
			return option.AmountLength(float64(o.Bytes)*8, float64(o.Rate))
		}
		return option.DurationLength(o)
	},
	Payload: option.LoadPayload,
	Metrics: metric.Set{
		Families: []*metric.Family{metric.ThroughputFamily, metric.DatagramFamily, metric.StreamFamily},
		Ranking:  []*metric.Definition{metric.Goodput},
		Headline: [][]*metric.Definition{{metric.Goodput}, {metric.Loss}},
	},
})

func defaults() measure.Options {
	o := option.Timed()
	// 1400 bytes need no fragments on any common path; 10 Mbit/s floods none.
	o.Streams, o.Size, o.Rate, o.Direction, o.Via = 1, 1400, 10_000_000, measure.Forward, option.ViaSoku
	o.Series = measure.SeriesOn
	o.TX, o.RX = "auto", "auto"
	return o
}

func check(o *measure.Options) error {
	if o.Via == option.ViaSoku && o.Size < option.MinUDPPayload {
		return measure.Fail(measure.KindUsage, "udp.size", measure.Figures{"size_bytes": o.Size, "least_bytes": option.MinUDPPayload})
	}
	return nil
}

// via refuses what a server of Ethr does not do with datagrams.
func via(o measure.Options) error {
	if o.Via == option.ViaEthr && o.Direction != measure.Forward {
		return measure.Fail(measure.KindUsage, "option.ethr.udp_direction", measure.Figures{"direction": o.Direction}).WithHintCode("leave_out_one", nil)
	}
	return nil
}
