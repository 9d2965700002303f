package ping

import (
	"math"
	"testing"
)

func TestTheDeviationIsTheMdevOfPing(t *testing.T) {
	for _, values := range [][]float64{{5}, {1e6, 2e6, 3e6}, {10_140_123, 10_139_877, 10_162_001, 13_000_500}} {
		var s stats
		var sum, squares float64
		for _, v := range values {
			s.add(v)
			sum += v
			squares += v * v
		}
		n := float64(len(values))
		// iputils takes the root of the mean of the squares less the square of the mean.
		want := math.Sqrt(squares/n - sum/n*sum/n)
		if got := s.deviation(); math.Abs(got-want) > want*1e-6+1e-9 {
			t.Errorf("%v: got %f, want %f", values, got, want)
		}
	}
	if got := (&stats{}).deviation(); got != 0 {
		t.Errorf("of nothing: %f", got)
	}
}
