package tests

import (
	"context"
	"time"

	"soku/internal/engine/ping"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/sock"
)

func init() {
	register(Descriptor{
		Test: measure.TestPing, Serverless: pingServerless, Summary: latencySummary,
		Live: func(View) []Column { return roundTripColumns("live.replies") },
	})
}

// longTest is how long a test lasts at least whose result has the age of its baseline: the host may
// have become busier or quieter since.
const longTest = time.Minute

func pingServerless(ctx context.Context, a Serverless) (found ServerlessResult, err error) {
	if err := ping.Check(a.Target, a.Options); err != nil {
		return found, err
	}
	overhead, err := ping.Floor(ctx, a.Options, a.Target.Is6())
	if err != nil {
		found.Findings.Add(finding.BaselineFailed, measure.AtClient, measure.Figures{"error": err})
	}
	if err := a.Begin(); err != nil {
		return found, err
	}
	began := sock.Now()
	l, err := ping.Run(ctx, a.Target, a.Options, a.Observe)
	if age := sock.Since(began); overhead != nil && age >= longTest {
		overhead.AgeNs = int64(age.Round(time.Second))
	}
	found.End.Latency, found.Overhead = l, overhead
	if err == nil && overhead != nil && l != nil && l.Received > 0 {
		found.Overhead, err = leastBaseline(float64(l.Histogram.Percentile(50)), overhead, func() (*measure.FloorReading, error) {
			return ping.Floor(ctx, a.Options, a.Target.Is6())
		})
	}
	if err == nil && l != nil && l.Received == 0 {
		err = measure.Fail(measure.KindUnreachable, "ping.no_reply", measure.Figures{"target": a.Target.String(), "requests": l.Sent})
	}
	return found, err
}
