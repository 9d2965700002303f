package tcp

import (
	"cmp"
	"slices"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/measure/option"
	"soku/internal/sock"
)

// Options are those that only the TCP test has.
type Options struct {
	WithLatency bool `json:"with_latency,omitempty" yaml:"with_latency" flag:"with-latency" help:"also measure latency before, during and after the load, and responsiveness in round trips per minute (RPM)"`
	Verify      bool `json:"verify,omitempty" yaml:"verify" flag:"verify" help:"verify every byte at the receiver; bytes are then written and read, not spliced and discarded"`
	MSS         int  `json:"mss_bytes,omitempty" yaml:"mss" flag:"mss" short:"M" max:"65495" help:"TCP maximum segment size; 0: from the path"`
	NoDelay     bool `json:"no_delay,omitempty" yaml:"no_delay" flag:"no-delay" short:"N" help:"send small writes at once (TCP_NODELAY); latency tests always do"`
}

// OptionsOf returns the options that only the TCP test has.
func OptionsOf(o measure.Options) Options { return measure.OwnOptions[Options](o) }

// Set implements [sock.Setter].
func (o Options) Set(s *sock.Settings) { s.MSS, s.NoDelay = o.MSS, o.NoDelay }

var _ = option.Register(option.Spec{
	Name: measure.TestTCP, Place: 10,
	Options: slices.Concat(option.NetworkKeys, option.ServerKeys, option.TimedKeys, option.LoadKeys, []string{
		"series", "omit", "length", "congestion", "mptcp", "flow_label",
	}),
	Own:         Options{},
	Defaults:    defaults(),
	Fill:        fill,
	Check:       check,
	TX:          []string{"auto", "write", "splice", "zerocopy", "sendfile"},
	RX:          []string{"auto", "read", "discard"},
	Server:      true,
	Via:         via,
	Connections: connections,
	Length:      length,
	Payload:     option.LoadPayload,
	Metrics: metric.Set{
		Families: []*metric.Family{metric.ThroughputFamily, metric.SegmentFamily, metric.StreamFamily, metric.UnderLoadFamily},
		Ranking:  []*metric.Definition{metric.Goodput},
		Headline: [][]*metric.Definition{{metric.Goodput}},
	},
})

func defaults() measure.Options {
	o := option.Timed()
	o.Streams, o.Direction, o.Via = 1, measure.Forward, option.ViaSoku
	o.Series = measure.SeriesOn
	o.TX, o.RX = "auto", "auto"
	return o
}

// fill sets options that an older program left out, and the length of a call.
func fill(o *measure.Options) {
	o.TX, o.RX = cmp.Or(o.TX, "auto"), cmp.Or(o.RX, "auto")
	o.Length = cmp.Or(o.Length, option.UsualLength(o.Streams))
}

func check(o *measure.Options) error {
	if o.Rate > 0 && o.TX != "auto" && o.TX != "write" && o.TX != "sendfile" {
		return measure.Fail(measure.KindUsage, "tcp.paced_path", measure.Figures{"path": o.TX})
	}
	if OptionsOf(*o).Verify && (o.TX != "auto" && o.TX != "write" || o.RX != "auto" && o.RX != "read") {
		return measure.Fail(measure.KindUsage, "tcp.verify_paths", measure.Figures{"tx": o.TX, "rx": o.RX})
	}
	return nil
}

// via refuses what servers of other programs do not offer.
func via(o measure.Options) error {
	var code string
	own := OptionsOf(o)
	switch o.Via {
	case option.ViaEthr:
		switch {
		case o.Direction == measure.Bidirectional:
			code = "option.ethr.bidirectional"
		case own.Verify:
			code = "option.ethr.verify"
		case own.WithLatency:
			code = "option.ethr.with_latency"
		default:
			return nil
		}
		return measure.Fail(measure.KindUsage, code, nil).WithHintCode("leave_out_one", nil)
	case option.ViaIperf3:
		switch {
		case own.Verify:
			return measure.Fail(measure.KindUsage, "iperf3.unsupported.verify", nil)
		case own.WithLatency:
			return measure.Fail(measure.KindUsage, "iperf3.unsupported.latency", nil)
		}
	case option.ViaNtttcp:
		switch {
		case own.Verify:
			return measure.Fail(measure.KindUsage, "ntttcp.unsupported.verify", nil)
		case own.WithLatency:
			return measure.Fail(measure.KindUsage, "ntttcp.unsupported.latency", nil)
		}
	}
	return nil
}

// connections returns one a stream and direction; a latency test under load adds its own
// after those of the load.
func connections(o measure.Options) int {
	n := o.Streams * len(o.Direction.Flows())
	if OptionsOf(o).WithLatency {
		n += ProbeConnections
	}
	return n
}

func length(o measure.Options) (measure.Duration, bool) {
	if o.Bytes > 0 {
		return option.AmountLength(float64(o.Bytes)*8, float64(o.Rate))
	}
	d := o.Omit + o.Duration
	if OptionsOf(o).WithLatency {
		d += 2 * IdleProbe(o).Duration
	}
	return d, true
}
