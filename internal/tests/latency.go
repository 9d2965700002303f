package tests

import (
	"context"
	"time"

	"soku/internal/engine"
	"soku/internal/engine/flows"
	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/option"
	"soku/internal/text"
	"soku/internal/wire"
)

func init() {
	register(Descriptor{
		Test: measure.TestLatency, Open: openLatency, Overhead: latencyOverhead, Conditions: latencyConditions, Finish: finishLatency, Compare: compareRoundTrip,
		Serve: serveLatency, Limit: limitRequests,
		Args: func(o measure.Options) text.Args { return text.Args{"Protocol": latency.OptionsOf(o).Protocol} },
		Rows: true, Summary: latencySummary,
		Live: func(View) []Column { return roundTripColumns("live.replies") },
	})
}

func openLatency(ctx context.Context, s wire.Session, o measure.Options) (end ClientEnd, err error) {
	if option.OverUDP(o, measure.TestLatency) {
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
	median := own.Latency.Histogram.Percentile(50)
	return leastBaseline(float64(median), nil, func() (*measure.FloorReading, error) { return latency.Floor(ctx, o, time.Duration(median)) })
}

func latencyConditions(o measure.Options, own *measure.End) string {
	return latency.FloorConditions(o, time.Duration(own.Latency.Histogram.Percentile(50)))
}

func finishLatency(r *measure.Result) {
	if d := r.Summary.DurationNs; d > 0 && r.Summary.RTT != nil {
		r.Summary.PacketsPerSecond = float64(r.Latency.Received) * 1e9 / float64(d)
	}
}

// serveLatency answers until the client is finished.
func serveLatency(ctx context.Context, e ServerEnd) (*measure.End, error) {
	end := &measure.End{}
	err := e.untilFinished(ctx, e.clientFinished, func(ctx context.Context) error {
		timing, err := e.Engines.Echo(ctx, e.Conns.List(), e.Options, engine.Flow{Pins: e.Pins, Limit: e.Limit}, nil)
		end.Timing = &timing
		return err
	})
	return end, err
}

// limitRequests lowers the rate of requests to that of the server.
func limitRequests(limit measure.Rate, o measure.Options) (measure.Options, measure.Findings) {
	most := float64(limit) / 8 / float64(o.Size)
	if o.RequestRate <= most {
		return o, nil
	}
	f := measure.NewFinding(finding.ServerLoweredRequests, measure.AtServer, measure.Figures{
		"requests_per_second": most, "requested_per_second": o.RequestRate, "limit_bps": limit,
	})
	o.RequestRate = most
	return o, measure.Findings{f}
}
