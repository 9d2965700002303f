package stats

import (
	"math"
	"testing"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(want) != math.IsNaN(got) || math.Abs(got-want) > tolerance {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func TestSummariesOfKnownValues(t *testing.T) {
	// Michelson's 1879 speed of light, first run (km/s - 299000); reference
	// figures by R: mean, sd, quantile(type = 7).
	light := []float64{850, 740, 900, 1070, 930, 850, 950, 980, 980, 880, 1000, 980, 930, 650, 760, 810, 1000, 1000, 960, 960}
	near(t, "mean", Mean(light), 909, 1e-9)
	near(t, "sd", StdDev(light), 104.9260391, 1e-6)
	near(t, "median", Median(light), 940, 1e-9)
	near(t, "q25", Quantile(light, 0.25), 850, 1e-9)
	near(t, "q75", Quantile(light, 0.75), 980, 1e-9)
	near(t, "q10", Quantile(light, 0.10), 758, 1e-9)
	low, high := Range(light)
	near(t, "low", low, 650, 0)
	near(t, "high", high, 1070, 0)
	near(t, "cv", CV(light), 104.9260391/909, 1e-9)
}

func TestQuantileInterpolatesBetweenOrderStatistics(t *testing.T) {
	for _, c := range []struct{ p, want float64 }{{0, 1}, {0.1, 1.3}, {0.5, 2.5}, {0.9, 3.7}, {1, 4}} {
		near(t, "quantile", Quantile([]float64{4, 1, 3, 2}, c.p), c.want, 1e-12)
	}
	near(t, "one value", Quantile([]float64{7}, 0.99), 7, 0)
	in := []float64{3, 1, 2}
	Quantile(in, 0.5)
	if in[0] != 3 {
		t.Error("Quantile changed its input")
	}
}

func TestSummariesOfNothingAreNaN(t *testing.T) {
	low, high := Range(nil)
	for name, got := range map[string]float64{
		"mean": Mean(nil), "sd of one": StdDev([]float64{1}), "median": Median(nil), "low": low, "high": high,
		"p above 1": Quantile([]float64{1}, 1.1), "p NaN": Quantile([]float64{1}, math.NaN()), "cv of zero mean": CV([]float64{-1, 1}),
	} {
		near(t, name, got, math.NaN(), 0)
	}
}

func TestMeanKeepsTheDigitsOfLargeCloseValues(t *testing.T) {
	near(t, "mean", Mean([]float64{1e16 + 2, 1e16 + 6}), 1e16+4, 0)
	near(t, "sd", StdDev([]float64{1e9, 1e9 + 1, 1e9 + 2}), 1, 1e-9)
}
