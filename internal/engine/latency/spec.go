package latency

import (
	"cmp"
	"time"

	"soku/internal/measure"
)

var _ = measure.Register(measure.Spec{
	Name: measure.TestLatency, Place: 30,
	Options: []string{
		"duration", "count", "omit", "interval", "pin", "size", "protocol", "request_rate", "flows", "arrivals",
		"seed", "spin", "stamps", "one_way", "row", "timeout", "congestion", "mptcp", "dscp", "tos", "flow_label",
		"via", "ip_version", "bind", "device", "port", "connect_timeout",
	},
	Defaults:    defaults(),
	Fill:        fill,
	Check:       check,
	Server:      true,
	Messages:    true,
	Connections: func(o measure.Options) int { return max(o.Flows, 1) },
	Datagrams:   func(o measure.Options) bool { return o.Protocol == "udp" },
	Length: func(o measure.Options) (measure.Duration, bool) {
		if o.Count > 0 {
			return measure.AmountLength(float64(o.Count), o.RequestRate)
		}
		return measure.DurationLength(o)
	},
	Payload: measure.Options.ExchangePayload,
	Metrics: measure.TestMetrics{
		Families: []*measure.Family{measure.RoundTripFamily, measure.ReportedFamily},
		Ranking:  measure.RoundTripRanking(),
		Headline: measure.RoundTripHeadline(),
	},
})

func defaults() measure.Options {
	o := measure.Timed()
	o.Protocol, o.Size, o.Row, o.Timeout, o.Via = "tcp", 64, 1000, measure.Duration(time.Second), measure.ViaSoku
	o.Flows, o.Arrivals, o.Spin, o.Stamps = 1, "fixed", "auto", "auto"
	return o
}

// fill sets options that an older program left out.
func fill(o *measure.Options) {
	o.Flows, o.Arrivals = cmp.Or(o.Flows, 1), cmp.Or(o.Arrivals, "fixed")
	o.Spin, o.Stamps = cmp.Or(o.Spin, "auto"), cmp.Or(o.Stamps, "auto")
}

func check(o *measure.Options) error {
	if err := checkSchedule(o); err != nil {
		return err
	}
	return checkSize(o)
}

// checkSchedule rejects options that cannot be combined with a schedule of requests.
func checkSchedule(o *measure.Options) error {
	if o.Flows > 1 && o.RequestRate > 0 {
		return measure.Errorf(measure.KindUsage, "flows and request_rate exclude each other: flows take turns, the next request leaves when a reply is in").WithHint("leave out one of them")
	}
	if o.OneWay && o.RequestRate > 0 {
		return measure.Errorf(measure.KindUsage, "one_way and request_rate exclude each other: requests on a schedule count from when they were due").WithHint("leave out one of them")
	}
	if o.RequestRate == 0 && o.Arrivals != "fixed" {
		return measure.Errorf(measure.KindUsage, "arrivals %s has no rate", o.Arrivals).WithHint("give --request-rate")
	}
	if o.Stamps == measure.StampsSplit && o.RequestRate > 0 {
		return measure.Errorf(measure.KindUsage, "stamps %s and request_rate exclude each other: requests on a schedule count from when they were due", measure.StampsSplit).WithHint("leave out one of them")
	}
	return nil
}

// checkSize rejects messages that are too small for their content or too large for the
// protocol.
func checkSize(o *measure.Options) error {
	least := measure.Size(measure.MinNumberedMessage)
	if o.Protocol == "udp" {
		least = measure.MinUDPPayload
	}
	if least += 16; o.FarTimes() && o.Size < least {
		return measure.Errorf(measure.KindUsage, "size %d: a reply with the times of the far end needs at least %d bytes over %s", o.Size, least, o.Protocol).WithHint("use a larger --size or leave out --one-way and --stamps %s", measure.StampsSplit)
	}
	udp := o.Protocol == "udp"
	switch {
	case udp && o.Via == measure.ViaSoku && o.Size < measure.MinUDPPayload:
		return measure.Errorf(measure.KindUsage, "size %d: a UDP message carries its own number and needs at least %d bytes", o.Size, measure.MinUDPPayload).WithHint("use a larger --size or --protocol tcp")
	case o.Size < 1 || o.Size > 64<<10:
		return measure.Errorf(measure.KindUsage, "size %d: out of range", o.Size).WithHint("latency messages have 1 B to 64 KiB")
	case udp && o.Size > measure.MaxUDPPayload:
		return measure.Errorf(measure.KindUsage, "size %d: more than a UDP datagram holds", o.Size).WithHint("at most %d with --protocol udp", measure.MaxUDPPayload)
	}
	return nil
}
