package report

import (
	"math"
	"testing"

	"soku/internal/measure"
)

// The curve of a pattern ends at the last percentile that ten round trips are beyond.
func TestCurvesEndAtTheLastSupportedPercentile(t *testing.T) {
	for count, want := range map[int]float64{1: math.Log10(2), 20: math.Log10(2), 50: math.Log10(5), 100: 1, 1000: 2, 12345: math.Log10(1234.5), 1_000_000: 5, 2_000_000: 5} {
		h := measure.NewHistogram()
		for range count {
			h.Record(50_000)
		}
		got := reach(h)
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("%d round trips: %v nines, want %v", count, got, want)
		}
		if share := 1 - math.Pow(10, -got); !measure.SupportsPercentile(int64(count), share) {
			t.Errorf("%d round trips do not support the percentile %v", count, 100*share)
		}
	}
}
