package stats

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

func TestSignedRankIntervalsAreThoseOfR(t *testing.T) {
	checked := 0
	for _, c := range pairedCases(t) {
		if c.HL == nil {
			continue
		}
		got, ok := HodgesLehmann(c.LogRatios, 0.95)
		if !ok {
			t.Errorf("%s: not available", c.Name)
		}
		agree(t, c.Name+": shift", got.Shift, c.HL.Shift, 1e-9)
		agree(t, c.Name+": low", got.Low, float64(c.HL.Low), 1e-9)
		agree(t, c.Name+": high", got.High, float64(c.HL.High), 1e-9)
		agree(t, c.Name+": level", got.Level, float64(c.HL.Actual), 1e-9)
		agree(t, c.Name+": V", got.V, c.HL.V, 1e-9)
		if c.R.V == nil { // R has no exact test with ties or zeros
			near(t, c.Name+": p", got.P, math.NaN(), 0)
			continue
		}
		checked++
		agree(t, c.Name+": V of R", got.V, *c.R.V, 1e-9)
		agree(t, c.Name+": p of R", got.P, c.R.PExact, 1e-9)
		agree(t, c.Name+": shift of R", got.Shift, c.R.HL, 1e-9)
		agree(t, c.Name+": low of R", got.Low, c.R.HLLow, 1e-9)
		agree(t, c.Name+": high of R", got.High, c.R.HLHigh, 1e-9)
	}
	if checked == 0 {
		t.Error("no case has figures of R")
	}
}

func TestSignFlipsAreThoseOfAllSubsets(t *testing.T) {
	checked := 0
	for _, c := range pairedCases(t) {
		if c.SignFlip == nil {
			continue
		}
		checked++
		got, ok := SignFlip(c.LogRatios, 0.95)
		if !ok {
			t.Errorf("%s: not available", c.Name)
		}
		agree(t, c.Name+": p", got.P, c.SignFlip.P, 1e-9)
		agree(t, c.Name+": low", got.Low, float64(c.SignFlip.Low), 1e-9)
		agree(t, c.Name+": high", got.High, float64(c.SignFlip.High), 1e-9)
	}
	if checked == 0 {
		t.Error("no case has sign flips")
	}
}

// signFlipByForce makes every subset, as in Hartigan's definition.
func signFlipByForce(d []float64, level float64) Exact {
	var total float64
	for _, v := range d {
		total += v
	}
	var means []float64
	far := 0
	for subset := range 1 << len(d) {
		sum, n := 0.0, 0
		for i, v := range d {
			if subset&(1<<i) != 0 {
				sum, n = sum+v, n+1
			}
		}
		if math.Abs(total-2*sum) >= math.Abs(total)-1e-12 {
			far++
		}
		if n > 0 {
			means = append(means, sum/float64(n))
		}
	}
	slices.Sort(means)
	k := int(float64(len(means)+1) * (1 - level) / 2)
	return Exact{P: float64(far) / float64(len(means)+1), Low: means[k-1], High: means[len(means)-k]}
}

func TestSignFlipsCountSubsetsWithoutMakingThem(t *testing.T) {
	for seed := range uint64(40) {
		r := source(seed)
		d := make([]float64, 6+seed%8)
		for i := range d {
			d[i] = 0.01 + 0.02*r.NormFloat64()
			if seed%3 == 0 { // ties and zeros
				d[i] = math.Round(d[i]*50) / 50
			}
		}
		got, _ := SignFlip(d, 0.95)
		want := signFlipByForce(d, 0.95)
		near(t, "p", got.P, want.P, 1e-12)
		near(t, "low", got.Low, want.Low, 1e-12)
		near(t, "high", got.High, want.High, 1e-12)
	}
}

func TestExactTestsHaveLimits(t *testing.T) {
	many := make([]float64, 201)
	for i := range many {
		many[i] = 0.01 + 0.001*float64(i%7)
	}
	if got, ok := SignFlip(many[:24], 0.95); !ok || got.P != math.Ldexp(1, -23) || !(got.Low > 0.01 && got.High < 0.016) {
		t.Errorf("24 rounds of one sign: %+v, %v", got, ok)
	}
	if _, ok := SignFlip(many[:25], 0.95); ok {
		t.Error("the sign-flip test is available for 25 rounds")
	}
	if got, ok := HodgesLehmann(many[:200], 0.95); !ok || !(got.Low > 0.01 && got.High < 0.016) || got.Level < 0.95 {
		t.Errorf("200 rounds: %+v, %v", got, ok)
	}
	if _, ok := HodgesLehmann(many, 0.95); ok {
		t.Error("the signed-rank interval is available for 201 rounds")
	}
	if _, ok := SignFlip(nil, 0.95); ok {
		t.Error("the sign-flip test is available without rounds")
	}
	if _, ok := HodgesLehmann([]float64{math.NaN()}, 0.95); ok {
		t.Error("the signed-rank interval is available without rounds")
	}
	for n := 1; n <= 6; n++ {
		flips, _ := SignFlip(many[:n], 0.95)
		ranks, _ := HodgesLehmann(many[:n], 0.95)
		if has := n == 6; math.IsNaN(flips.Low) == has || math.IsNaN(ranks.Low) == has {
			t.Errorf("%d rounds: %+v, %+v", n, flips, ranks)
		}
	}
}

func TestExactTestsHoldUnderHeavyTails(t *testing.T) {
	flips, ranks := 0, 0
	for seed := range uint64(1000) {
		r := source(seed)
		d := make([]float64, 10)
		for i := range d {
			d[i] = r.NormFloat64() / math.Abs(r.NormFloat64()) // Cauchy
		}
		if e, _ := SignFlip(d, 0.95); e.Low > 0 || e.High < 0 {
			flips++
		}
		if s, _ := HodgesLehmann(d, 0.95); s.Low > 0 || s.High < 0 {
			ranks++
		}
	}
	if flips > 77 || ranks > 77 || flips < 20 || ranks < 20 {
		t.Errorf("false in %d and %d of 1000", flips, ranks)
	}
}

func BenchmarkSignFlip(b *testing.B) {
	for _, n := range []int{12, 20, 24} {
		d := table(7, []float64{0.01}, n, 0.02)[0]
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				SignFlip(d, 0.95)
			}
		})
	}
}
