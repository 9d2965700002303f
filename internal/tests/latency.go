package tests

import (
	"context"
	"time"

	"soku/internal/engine"
	"soku/internal/engine/flows"
	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/wire"
)

var _ = register(Descriptor{
	Test: measure.TestLatency, Open: openLatency, Overhead: latencyOverhead, Finish: finishLatency, Compare: compareRoundTrip,
	Rows: true, Summary: latencySummary,
	Live: func(View) []Column { return roundTripColumns("live.replies") },
})

func openLatency(ctx context.Context, s wire.Session, o measure.Options) (end ClientEnd, err error) {
	if o.OverUDP(measure.TestLatency) {
		end.Conns.UDP, err = s.UDP(ctx)
	} else {
		end.Conns.TCP, err = s.TCP(ctx)
	}
	end.Run = roundTripsOver(end.Conns)
	return end, err
}

func roundTripsOver(conns flows.Conns) func(context.Context, measure.Options, engine.Flow) (*measure.End, error) {
	return func(ctx context.Context, o measure.Options, f engine.Flow) (*measure.End, error) {
		l, err := latency.Run(ctx, conns.List(), o, f)
		return &measure.End{Latency: l}, err
	}
}

// latencyOverhead measures what this host adds to a round trip like those of the end.
func latencyOverhead(ctx context.Context, o measure.Options, own *measure.End) (*measure.FloorReading, error) {
	return latency.Floor(ctx, o, time.Duration(own.Latency.Histogram.Percentile(50)))
}

func finishLatency(r *measure.Result) {
	if d := r.Summary.DurationNs; d > 0 && r.Summary.RTT != nil {
		r.Summary.PacketsPerSecond = float64(r.Latency.Received) * 1e9 / float64(d)
	}
}
