package udp

import (
	"cmp"
	"slices"

	"soku/internal/measure"
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

var _ = measure.Register(measure.Spec{
	Name: measure.TestUDP, Place: 20,
	Options: slices.Concat(measure.NetworkOptions, measure.ServerOptions, measure.TimedOptions, measure.LoadOptions, []string{
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
			return measure.AmountLength(float64(o.Bytes)*8, float64(o.Rate))
		}
		return measure.DurationLength(o)
	},
	Payload: measure.Options.LoadPayload,
	Metrics: measure.TestMetrics{
		Families: []*measure.Family{measure.ThroughputFamily, measure.DatagramFamily, measure.StreamFamily},
		Ranking:  []*measure.Metric{measure.MetricGoodput},
		Headline: [][]*measure.Metric{{measure.MetricGoodput}, {measure.MetricLoss}},
	},
})

func defaults() measure.Options {
	o := measure.Timed()
	// 1400 bytes need no fragments on any common path; 10 Mbit/s floods none.
	o.Streams, o.Size, o.Rate, o.Direction, o.Via = 1, 1400, 10_000_000, measure.Forward, measure.ViaSoku
	o.Series = measure.SeriesOn
	o.TX, o.RX = "auto", "auto"
	return o
}

func check(o *measure.Options) error {
	if o.Via == measure.ViaSoku && o.Size < measure.MinUDPPayload {
		return measure.Fail(measure.KindUsage, "udp.size", measure.Figures{"size_bytes": o.Size, "least_bytes": measure.MinUDPPayload})
	}
	return nil
}

// via refuses what a server of Ethr does not do with datagrams.
func via(o measure.Options) error {
	if o.Via == measure.ViaEthr && o.Direction != measure.Forward {
		return measure.Fail(measure.KindUsage, "option.ethr.udp_direction", measure.Figures{"direction": o.Direction}).WithHintCode("leave_out_one", nil)
	}
	return nil
}
