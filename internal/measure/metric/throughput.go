package metric

import "soku/internal/measure"

// The metrics of streams and datagrams that other code names.
var (
	Goodput = &Definition{
		Key: "goodput_bps", Help: "payload counted at the receiver over the steady part; both directions together",
		Quantity: QuantityBitRate, Unit: "bit/s", Suffix: "bps", Better: Higher, Over: MeanOfRounds, Take: goodput, Member: "goodput_bps",
		Column: &Column{
			Show: Always, Scales: 1,
			Extra: []ExtraColumn{{Drop: 4}, {Drop: 7, Variation: true}},
		},
	}
	Loss = &Definition{
		Key: "loss_ratio", Help: "lost divided by sent",
		Quantity: QuantityRatio, Suffix: "ratio", Better: Lower, Over: MeanOfRounds, Member: "loss_ratio",
		Take:   func(r *measure.Result) (float64, bool) { return optional(r.Summary.LossRatio) },
		Column: &Column{Drop: 1},
	}
)

// ThroughputFamily is payload over time, of streams and of datagrams.
var ThroughputFamily = &Family{"Throughput", "", []*Definition{
	Goodput,
	{
		Key: "duration_ns", Help: "time that a fixed amount of bytes took",
		Quantity: QuantityTime, Unit: "ns", Suffix: "ns", Better: Lower, Over: MeanOfRounds, Member: "duration_ns",
		Take: func(r *measure.Result) (float64, bool) {
			return float64(r.Summary.DurationNs), r.Options.Bytes > 0 && r.Summary.DurationNs > 0
		},
		Column: &Column{Drop: 3},
	},
	{
		Key: "forward_bps", Help: "goodput from the client to the server, where a trial has both directions",
		Quantity: QuantityBitRate, Unit: "bit/s", Suffix: "bps", Better: Higher, Over: MeanOfRounds, Member: "forward_bps",
		Take: oneWay(measure.Forward), Column: &Column{Drop: 5},
	},
	{
		Key: "reverse_bps", Help: "goodput from the server to the client, where a trial has both directions",
		Quantity: QuantityBitRate, Unit: "bit/s", Suffix: "bps", Better: Higher, Over: MeanOfRounds, Member: "reverse_bps",
		Take: oneWay(measure.Reverse), Column: &Column{Drop: 5},
	},
}}

// DatagramFamily is what became of datagrams.
var DatagramFamily = &Family{"Datagrams", "", []*Definition{
	Loss,
	{
		Key: "jitter_ns", Help: "RFC 3550 interarrival jitter at the end of the trial; mean over its streams",
		Quantity: QuantityTime, Unit: "ns", Suffix: "ns", Better: Lower, Over: MeanOfRounds, Member: "jitter_ns",
		Take:   func(r *measure.Result) (float64, bool) { return optional(r.Summary.JitterNs) },
		Column: &Column{Drop: 5},
	},
	{
		Key: "packets_per_second", Help: "datagrams that the receiver got",
		Quantity: QuantityEventRate, Unit: "packets/s", Suffix: "per_second", Better: Higher, Over: MeanOfRounds, Member: "packets_per_second",
		Take:   func(r *measure.Result) (float64, bool) { return r.Summary.PacketsPerSecond, r.Test == measure.TestUDP },
		Column: &Column{Drop: 6},
	},
}}

// SegmentFamily is what the sender's kernel reports about TCP.
var SegmentFamily = &Family{"Segments", "", []*Definition{
	{
		Key: "retransmits", Help: "TCP segments that the sender's kernel sent again",
		Quantity: QuantityCount, Unit: "segments", Suffix: "segments", Better: Lower, Over: MeanOfRounds, Member: "retransmits",
		Take: func(r *measure.Result) (float64, bool) {
			if r.Summary.Retransmits == nil {
				return 0, false
			}
			return float64(*r.Summary.Retransmits), true
		},
		Column: &Column{Drop: 6},
	},
}}

// StreamFamily is how streams shared a path, and what they cost.
var StreamFamily = &Family{"Streams and processor time", "", []*Definition{
	{
		Key: "fairness_index", Help: "Jain's index of the goodputs of a trial's streams: 1 where all had the same",
		Quantity: QuantityIndex, Suffix: "index", Better: Higher, Over: MeanOfRounds, Member: "fairness_index",
		Take: func(r *measure.Result) (float64, bool) {
			f := r.Summary.Fairness
			if f == nil {
				return 0, false
			}
			return min(max(f.JainIndex, 0), 1), true
		},
		Column: &Column{Drop: 7},
	},
	{
		Key: "cpu_seconds_per_gb", Help: "processor time that both ends together spent on 1e9 payload bytes",
		Quantity: QuantityCost, Unit: "s/GB", Suffix: "seconds_per_gb", Better: Lower, Over: MeanOfRounds, Member: "cpu_seconds_per_gb", CSV: CSVMean,
		Take:   func(r *measure.Result) (float64, bool) { return optional(r.Summary.CPUSecPerGB) },
		Column: &Column{Drop: 8},
	},
}}

// goodput is a figure of zero where the receiver counted and got nothing, or another program's file says so,
// and none where its count is missing.
func goodput(r *measure.Result) (float64, bool) {
	s := r.Summary
	switch {
	case s.GoodputBps == 0 && s.ReceivedBytes > 0 && s.DurationNs == 0: // all arrived in an instant
		return 0, false
	case s.GoodputBps == 0 && r.Origin != nil:
		// A file with a rate or a loss of packets need not have a goodput.
		packets := s.PacketsPerSecond > 0 || s.PacketsReceived > 0 || s.LossRatio != nil && *s.LossRatio < 1
		return 0, len(r.Flows) > 0 && r.Error == nil && !packets
	}
	return s.GoodputBps, s.GoodputBps > 0 || s.ReceivedBytes > 0 || s.LossRatio != nil
}

// oneWay is the goodput of one direction of a trial that has both.
func oneWay(d measure.Direction) func(*measure.Result) (float64, bool) {
	return func(r *measure.Result) (float64, bool) {
		if len(r.Flows) < 2 {
			return 0, false
		}
		for _, f := range r.Flows {
			if f.Direction == d {
				return f.Summary.GoodputBps, true
			}
		}
		return 0, false
	}
}

func optional(p *float64) (float64, bool) {
	if p == nil {
		return 0, false
	}
	return *p, true
}
