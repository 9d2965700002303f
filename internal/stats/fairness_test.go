package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestFairnessOfKnownShares(t *testing.T) {
	for name, c := range map[string]struct {
		shares []float64
		want   float64
	}{
		"all alike":             {[]float64{7, 7, 7, 7}, 1},
		"one alone":             {[]float64{3}, 1},
		"one of four has all":   {[]float64{0, 9, 0, 0}, 0.25},
		"three of ten have all": {[]float64{5, 5, 5, 0, 0, 0, 0, 0, 0, 0}, 0.3},
		"one to three":          {[]float64{1, 3}, 16.0 / 20},
		"large and small":       {[]float64{1e300, 3e300}, 16.0 / 20},
		"a damaged count":       {[]float64{-5, 4}, 0.5},
		"nobody has any":        {[]float64{0, 0}, math.NaN()},
		"nobody":                {nil, math.NaN()},
		"no number at all":      {[]float64{math.NaN(), 1}, math.NaN()},
	} {
		t.Run(name, func(t *testing.T) { near(t, "index", Jain(c.shares), c.want, 1e-12) })
	}
}

func TestFairnessIsBoundedAndKnowsNoUnit(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		shares, scaled := make([]float64, 1+r.IntN(50)), []float64{}
		for i := range shares {
			shares[i] = math.Exp(4 * r.NormFloat64())
			scaled = append(scaled, shares[i]*8e9)
		}
		got := Jain(shares)
		if got < 1/float64(len(shares))-1e-12 || got > 1+1e-12 {
			t.Fatalf("%d shares have an index of %v", len(shares), got)
		}
		near(t, "index in another unit", Jain(scaled), got, 1e-9)
	}
}
