package tests

import (
	"errors"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

func TestABaselineAboveItsMedianIsMeasuredAgain(t *testing.T) {
	for _, c := range []struct {
		readings []float64 // medians
		want     float64
		times    int
	}{
		{[]float64{9000}, 9000, 1},
		{[]float64{10_900}, 10_900, 1}, // alike: over loopback each is sometimes the larger
		{[]float64{8e6, 7000}, 7000, 2},
		{[]float64{8e6, 30_000}, 30_000, 2},
	} {
		n := 0
		got, err := leastBaseline(10_000, nil, func() (*measure.FloorReading, error) {
			n++
			return &measure.FloorReading{RTT: measure.Percentiles{P50: c.readings[n-1]}}, nil
		})
		if err != nil || got.RTT.P50 != c.want || n != c.times {
			t.Errorf("%v: %v after %d readings (%v), want %v after %d", c.readings, got, n, err, c.want, c.times)
		}
	}
}

func TestASecondBaselineThatFailsLeavesTheFirst(t *testing.T) {
	failure := errors.New("too busy")
	fails := func() (*measure.FloorReading, error) { return nil, failure }
	first := &measure.FloorReading{RTT: measure.Percentiles{P50: 8e6}}
	if got, err := leastBaseline(10_000, first, fails); got != first || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := leastBaseline(10_000, nil, fails); got != nil || !errors.Is(err, failure) {
		t.Errorf("without a first one: %v, %v", got, err)
	}
	second := &measure.FloorReading{RTT: measure.Percentiles{P50: 7000}}
	if got, err := leastBaseline(10_000, first, func() (*measure.FloorReading, error) { return second, nil }); got != second || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}

func TestAMedianBelowItsBaselineIsTooFastToMeasure(t *testing.T) {
	for baseline, want := range map[float64]finding.Code{
		8e6: finding.TooFastToMeasure, 10_700: finding.TooFastToMeasure, 5000: finding.RTTNearBaseline, 2000: "",
	} {
		r := &measure.Result{Summary: measure.Summary{RTT: &measure.Percentiles{P50: 10_700}}}
		found := ReportBaseline(r, baseline, nil)
		if found != (want != "") || found && (len(r.Findings) != 1 || r.Findings[0].Code != want) {
			t.Errorf("a baseline of %v: %+v", baseline, r.Findings)
		}
	}
}
