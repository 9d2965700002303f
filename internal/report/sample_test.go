package report

import (
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/metric"
)

// A percentile is the upper limit of its bin, and the values of its interval are inside bins.
func TestThePercentileOfASampleIsWithinItsInterval(t *testing.T) {
	c := NewChoice("now", nil)
	for round := 1; round <= 6; round++ {
		r := tcpTrial("a", round, 0)
		r.Test, r.Trial.Label = measure.TestLatency, "latency"
		r.Latency = &measure.Latency{Histogram: measure.NewHistogram()}
		for range 5000 {
			r.Latency.Histogram.Record(1_000_003)
		}
		c.Add(r)
	}
	samples := c.Samples()
	i := samples[0].Interval(metric.ByKey("rtt_p99_ns"), 0.95)
	if i.TooFew || i.Rounds != 6 || !(i.Low <= i.Value && i.Value <= i.High) {
		t.Errorf("%+v", i)
	}
}
