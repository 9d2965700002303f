package stats

import "testing"

func TestCriticalValuesAreThoseOfThePublishedTables(t *testing.T) {
	for df, want := range map[float64]float64{1: 12.7062, 4: 2.7764, 30: 2.0423, 120: 1.9799, 1e6: 1.9600} {
		near(t, "the two-sided 5 % value of Student's t", studentT(0.05, df), want, 5e-5)
	}
	for z, want := range map[float64]float64{-3: 0.00135, -1.96: 0.02500, 0: 0.5, 1: 0.84134} {
		near(t, "the normal distribution", normalCDF(z), want, 5e-6)
	}
}
