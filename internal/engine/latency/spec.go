package latency

import (
	"cmp"
	"slices"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/measure/option"
)

// Options are those that only the latency test has.
type Options struct {
	Protocol string `json:"protocol,omitempty" yaml:"protocol" flag:"protocol" enum:"tcp udp" help:"transport protocol of the messages: tcp or udp"`
	Arrivals string `json:"arrivals,omitempty" yaml:"arrivals" flag:"arrivals" enum:"fixed poisson" help:"with --request-rate: requests at fixed intervals, or at random intervals of the same mean (poisson)"`
	Seed     int64  `json:"seed,omitempty" yaml:"seed" flag:"seed" max:"9007199254740991" help:"seed of random arrivals; 0: random, recorded in the result"`
	Spin     string `json:"spin,omitempty" yaml:"spin" flag:"spin" bare:"on" enum:"auto on off" help:"poll for messages without pause at both ends instead of sleeping until one arrives; each end then keeps a processor busy. auto: if there are at least four processors"`
	Stamps   string `json:"stamps,omitempty" yaml:"stamps" flag:"stamps" enum:"auto on off split" help:"use the kernel's arrival time stamp of the reply for the round trip; auto: except while spinning, where there is no wake-up; split: also divide each round trip into the path, the far host, and this host sending and receiving (Linux)"`
	OneWay   bool   `json:"one_way,omitempty" yaml:"one_way" flag:"one-way" help:"also estimate the one-way delay in each direction, as exactly as the clocks can be compared; requires messages of at least 24 bytes over tcp, 44 over udp"`
	Row      int64  `json:"row,omitempty" yaml:"row" flag:"row" min:"1" max:"1000000000" help:"round trips per row of the table"`
}

// OptionsOf returns the options that only the latency test has.
func OptionsOf(o measure.Options) Options { return measure.OwnOptions[Options](o) }

// StampsSplit is the value of the option stamps that asks for a [measure.Split].
const StampsSplit = "split"

// FarTimes reports whether replies carry the times of the far end.
func (o Options) FarTimes() bool { return o.OneWay || o.Stamps == StampsSplit }

var _ = option.Register(option.Spec{
	Name: measure.TestLatency, Place: 30,
	Options: slices.Concat(option.NetworkKeys, option.ServerKeys, option.TimedKeys, []string{
		"series", "count", "omit", "size", "request_rate", "flows", "timeout", "congestion", "mptcp", "flow_label",
	}),
	Own:         Options{Protocol: "tcp", Arrivals: "fixed", Spin: "auto", Stamps: "auto", Row: 1000},
	Defaults:    defaults(),
	Fill:        fill,
	Check:       check,
	Server:      true,
	Via:         via,
	Messages:    true,
	Connections: func(o measure.Options) int { return max(o.Flows, 1) },
	Datagrams:   func(o measure.Options) bool { return OptionsOf(o).Protocol == "udp" },
	Length: func(o measure.Options) (measure.Duration, bool) {
		if o.Count > 0 {
			return option.AmountLength(float64(o.Count), o.RequestRate)
		}
		return option.DurationLength(o)
	},
	Payload: option.ExchangePayload,
	Metrics: metric.Set{
		Families: []*metric.Family{metric.RoundTripFamily, metric.ReportedFamily},
		Ranking:  metric.RoundTripRanking(),
		Headline: metric.RoundTripHeadline(),
	},
})

func defaults() measure.Options {
	o := option.Timed()
	o.Size, o.Flows, o.Timeout, o.Via = 64, 1, measure.Duration(time.Second), option.ViaSoku
	o.Series = measure.SeriesOff // a reading on a busy processor would be in the tail
	return o
}

// fill sets options that an older program left out.
func fill(o *measure.Options) {
	o.Flows = cmp.Or(o.Flows, 1)
	measure.EditOwn(o, func(own *Options) {
		own.Arrivals, own.Spin, own.Stamps = cmp.Or(own.Arrivals, "fixed"), cmp.Or(own.Spin, "auto"), cmp.Or(own.Stamps, "auto")
	})
}

func check(o *measure.Options) error {
	own := OptionsOf(*o)
	if o.Multipath && own.Protocol == "udp" {
		return measure.Fail(measure.KindUsage, "option.mptcp.udp", nil).WithHintCode("leave_out_one", nil)
	}
	if err := checkSchedule(o, own); err != nil {
		return err
	}
	return checkSize(o, own)
}

// checkSchedule rejects options that cannot be combined with a schedule of requests.
func checkSchedule(o *measure.Options, own Options) error {
	if o.Flows > 1 && o.RequestRate > 0 {
		return measure.Fail(measure.KindUsage, "latency.flows_and_rate", nil).WithHintCode("leave_out_one", nil)
	}
	if own.OneWay && o.RequestRate > 0 {
		return measure.Fail(measure.KindUsage, "latency.one_way_and_rate", nil).WithHintCode("leave_out_one", nil)
	}
	if o.RequestRate == 0 && own.Arrivals != "fixed" {
		return measure.Fail(measure.KindUsage, "latency.arrivals", measure.Figures{"arrivals": own.Arrivals})
	}
	if own.Stamps == StampsSplit && o.RequestRate > 0 {
		return measure.Fail(measure.KindUsage, "latency.stamps_and_rate", measure.Figures{"stamps": StampsSplit}).WithHintCode("leave_out_one", nil)
	}
	return nil
}

// checkSize rejects messages that are too small for their content or too large for the
// protocol.
func checkSize(o *measure.Options, own Options) error {
	least := measure.Size(option.MinNumberedMessage)
	if own.Protocol == "udp" {
		least = option.MinUDPPayload
	}
	if least += 16; own.FarTimes() && o.Size < least {
		return measure.Fail(measure.KindUsage, "latency.size.times", measure.Figures{
			"size_bytes": o.Size, "least_bytes": least, "protocol": own.Protocol, "stamps": StampsSplit,
		})
	}
	udp := own.Protocol == "udp"
	switch {
	case udp && o.Via == option.ViaSoku && o.Size < option.MinUDPPayload:
		return measure.Fail(measure.KindUsage, "latency.size.number", measure.Figures{
			"size_bytes": o.Size, "least_bytes": option.MinUDPPayload,
		})
	case o.Size < 1 || o.Size > 64<<10:
		return measure.Fail(measure.KindUsage, "latency.size.range", measure.Figures{"size_bytes": o.Size})
	case udp && o.Size > option.MaxUDPPayload:
		return measure.Fail(measure.KindUsage, "latency.size.datagram", measure.Figures{
			"size_bytes": o.Size, "most_bytes": option.MaxUDPPayload,
		})
	}
	return nil
}

// via refuses what a server of Ethr does not do with messages.
func via(o measure.Options) error {
	var code string
	own := OptionsOf(o)
	switch {
	case o.Via != option.ViaEthr:
		return nil
	case own.Protocol == "udp":
		code = "option.ethr.udp"
	case o.RequestRate > 0:
		code = "option.ethr.request_rate"
	case own.OneWay:
		code = "option.ethr.one_way"
	case own.Stamps == StampsSplit:
		code = "option.ethr.stamps_split"
	case own.Spin == "on":
		code = "option.ethr.spin"
	default:
		return nil
	}
	return measure.Fail(measure.KindUsage, code, nil).WithHintCode("leave_out_one", nil)
}
