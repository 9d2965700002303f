package stats

import (
	"math"
	"testing"
)

func TestAdjustedIntervalsAreThoseOfTheReference(t *testing.T) {
	widened := 0
	for _, c := range pairedCases(t) {
		got := AutocorrelationAdjusted(c.LogRatios, 0.95)
		if least := min(float64(len(c.LogRatios)-1), 4); c.Adjusted.DF < least { // the reference has no bound
			if got.DF != least || got.Low < c.Adjusted.Low || got.High > c.Adjusted.High {
				t.Errorf("%s: %+v, want %g degrees of freedom", c.Name, got, least)
			}
			continue
		}
		agree(t, c.Name+": estimate", got.Estimate, c.Adjusted.Estimate, 1e-9)
		agree(t, c.Name+": low", got.Low, c.Adjusted.Low, 1e-9)
		agree(t, c.Name+": high", got.High, c.Adjusted.High, 1e-9)
		agree(t, c.Name+": autocorrelation", got.Autocorrelation, c.Adjusted.R, 1e-9)
		agree(t, c.Name+": degrees of freedom", got.DF, c.Adjusted.DF, 1e-9)
		if got.Autocorrelation > 0 {
			widened++
		}
	}
	if widened == 0 {
		t.Error("no case has autocorrelation")
	}
}

func TestAdjustedIntervalsCoverTheMean(t *testing.T) {
	for _, c := range []struct {
		design string
		own    float64 // share of the variance that is drift
		rho    float64
		least  float64
	}{
		{"12 rounds, independent", 0, 0, 0.95},
		{"12 rounds, half of the variance is drift with r = 0.5", 0.5, 0.5, 0.91},
		{"12 rounds, all of the variance is drift with r = 0.8", 1, 0.8, 0.82},
	} {
		simulate(t, "the 95 % interval of one pattern contains its mean", c.design, 2000, func(seed uint64) bool {
			r := source(seed)
			means := drift(r, 12, c.rho, math.Sqrt(c.own))
			for i := range means {
				means[i] += 100 + math.Sqrt(1-c.own)*r.NormFloat64()
			}
			i := AutocorrelationAdjusted(means, 0.95)
			return i.Low <= 100 && 100 <= i.High
		}).atLeast(c.least)
	}
}

func TestIntervalsCoverTheTruth(t *testing.T) {
	for _, c := range []struct {
		rounds, repeats int
		low             float64
	}{{2, 1, 0.91}, {3, 2, 0.91}, {5, 1, 0.91}, {7, 3, 0.91}, {8, 1, 0.91}, {8, 3, 0.91}, {12, 2, 0.91}, {30, 1, 0.91}} {
		got := share(200, func(seed uint64) bool {
			r := source(seed)
			e := Rank([]Group{simulated(r, "a", 100, 5, c.repeats, make([]float64, c.rounds))}, true, 0)[0]
			return e.Low <= 100 && 100 <= e.High
		})
		if got < c.low || got > 0.995 {
			t.Errorf("%d rounds of %d: interval holds the truth in %.1f %% of campaigns", c.rounds, c.repeats, got*100)
		}
	}
}

func TestIntervalsAllowForRoundsThatAreAlike(t *testing.T) {
	// Taken as independent, such rounds would hold it in about 75 %.
	for rounds, least := range map[int]float64{10: 0.83, 20: 0.86, 40: 0.88} {
		got := share(150, func(seed uint64) bool {
			r := source(seed)
			e := Rank([]Group{simulated(r, "a", 100, 1, 2, drift(r, rounds, 0.5, 5))}, true, 0)[0]
			return e.Low <= 100 && 100 <= e.High
		})
		if got < least {
			t.Errorf("%d rounds: interval holds the truth in %.1f %% of campaigns", rounds, got*100)
		}
	}
}
