package metric_test

import (
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	_ "soku/internal/tests"
)

func TestAPublishedLossCountsByTheRoundTripsBehindIt(t *testing.T) {
	published := func(ratio float64, count int64) *measure.Result {
		return &measure.Result{Test: measure.TestPing, Origin: &measure.Origin{}, Summary: measure.Summary{LossRatio: &ratio, ReportedRTT: &measure.RTTFigures{Count: count}}}
	}
	for _, c := range []struct {
		r          *measure.Result
		lost, sent float64
		found      bool
	}{
		{published(0.25, 30), 10, 40, true},
		{published(0.25, 0), 0.25, 1, true},
		{published(1, 30), 1, 1, true},
		{&measure.Result{Test: measure.TestPing, Origin: &measure.Origin{}}, 0, 0, false},
		{&measure.Result{Test: measure.TestPing, Latency: &measure.Latency{}, Summary: measure.Summary{LossRatio: new(float64)}}, 0, 0, false},
	} {
		if lost, sent, found := metric.RTTLoss.Parts(c.r); lost != c.lost || sent != c.sent || found != c.found {
			t.Errorf("%v of %v, %v; want %v of %v, %v", lost, sent, found, c.lost, c.sent, c.found)
		}
	}
}
