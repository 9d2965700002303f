package messages

import (
	"slices"
	"testing"
)

// People read figures without exponents, however large or small.
func TestAFigureIsWrittenWithoutAnExponent(t *testing.T) {
	for _, c := range []struct {
		digits int
		v      float64
		want   string
	}{
		{3, 2063.4, "2063"},
		{3, 1000, "1000"},
		{3, 999.6, "1000"},
		{3, 99.96, "100"},
		{3, 1.234, "1.23"},
		{3, -0.5, "-0.5"},
		{3, 0, "0"},
		{3, 0.00000125, "0.00000125"},
		{2, 99.7, "100"},
	} {
		if got := significant(c.digits, c.v); got != c.want {
			t.Errorf("%v with %d digits: %s, want %s", c.v, c.digits, got, c.want)
		}
	}
	if got := times(99.7); got != "100" {
		t.Errorf("99.7 times: %s, want 100", got)
	}
}

func TestMultiplesShowTheirIntervalAndItsSideOfOne(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   []string
	}{
		{[]float64{1.2}, []string{"1.20"}},
		{[]float64{1.2, 1.15, 1.25}, []string{"1.20", "1.15", "1.25"}},
		{[]float64{12.34, 0.0351, 1234}, []string{"12.3", "0.0351", ">1000"}},
		{[]float64{123, 0.0001, 456}, []string{"123", "<0.001", "456"}},
		{[]float64{1.2, 1.199, 1.201}, []string{"1.200", "1.199", "1.201"}},
		{[]float64{1.02, 1.004, 1.03}, []string{"1.020", "1.004", "1.030"}},
		{[]float64{1.02, 1, 1.03}, []string{"1.02", "1.00", "1.03"}},
		{[]float64{1.2, 1.2, 1.2}, []string{"1.20", "1.20", "1.20"}},
	} {
		if got := multiples(c.values); !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.values, got, c.want)
		}
	}
}
