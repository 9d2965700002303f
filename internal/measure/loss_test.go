package measure

import "testing"

func TestAPublishedLossCountsByTheRoundTripsBehindIt(t *testing.T) {
	published := func(ratio float64, count int64) *Result {
		return &Result{Test: TestPing, Origin: &Origin{}, Summary: Summary{LossRatio: &ratio, ReportedRTT: &RTTFigures{Count: count}}}
	}
	for _, c := range []struct {
		r          *Result
		lost, sent float64
		found      bool
	}{
		{published(0.25, 30), 10, 40, true},
		{published(0.25, 0), 0.25, 1, true},
		{published(1, 30), 1, 1, true},
		{&Result{Test: TestPing, Origin: &Origin{}}, 0, 0, false},
		{&Result{Test: TestPing, Latency: &Latency{}, Summary: Summary{LossRatio: new(float64)}}, 0, 0, false},
	} {
		if lost, sent, found := MetricRTTLoss.Parts(c.r); lost != c.lost || sent != c.sent || found != c.found {
			t.Errorf("%v of %v, %v; want %v of %v, %v", lost, sent, found, c.lost, c.sent, c.found)
		}
	}
}
