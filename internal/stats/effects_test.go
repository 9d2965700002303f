package stats

import (
	"math"
	"strconv"
	"testing"
)

// factorial makes observations of a test by one round each from logarithms: of a level of each
// factor, and a round. NaN is a failed trial.
func factorial(factors []string, levels []int, rounds int, log func(at []int, round int) float64) Observations {
	var o Observations
	for f, name := range factors {
		factor := Factor{Name: name}
		for level := range levels[f] {
			factor.Levels = append(factor.Levels, name+strconv.Itoa(level))
		}
		o.Factors = append(o.Factors, factor)
	}
	for round := range rounds {
		at := make([]int, len(levels))
		for more := true; more; more = next(at, levels) {
			row := Observation{Test: "tcp", Metric: "goodput", Round: round, Value: math.Exp(log(at, round))}
			for f, level := range at {
				row.Levels = append(row.Levels, factors[f]+strconv.Itoa(level))
			}
			o.Rows = append(o.Rows, row)
		}
	}
	return o
}

// next counts through all combinations of levels, the last factor first.
func next(at, levels []int) bool {
	for f := len(at) - 1; f >= 0; f-- {
		if at[f]++; at[f] < levels[f] {
			return true
		}
		at[f] = 0
	}
	return false
}

func effects(o Observations, options EffectOptions) Effects {
	return FindEffects(o.Cells("tcp", "goodput"), options)
}

func TestMainEffectsAverageOverTheOtherFactors(t *testing.T) {
	// a adds 0.1, and 0.2 more at the second level of b: 0.2 on average over both, 0.3 at the
	// second one.
	truth := func(at []int, round int) float64 {
		return 0.1*float64(at[0]) + 0.2*float64(at[0]*at[1]) + 0.5*float64(at[1]) + 0.03*float64(round*round%7)
	}
	for name, missing := range map[string]func(at []int, round int) bool{
		"complete":              func([]int, int) bool { return false },
		"a trial failed":        func(at []int, round int) bool { return round == 2 && at[0] == 1 && at[1] == 1 },
		"several trials failed": func(at []int, round int) bool { return (round+at[0]+2*at[1])%5 == 0 },
		"a round failed":        func(_ []int, round int) bool { return round == 3 },
	} {
		got := effects(factorial([]string{"a", "b"}, []int{2, 2}, 8, func(at []int, round int) float64 {
			if missing(at, round) {
				return math.NaN()
			}
			return truth(at, round)
		}), EffectOptions{})
		near(t, name+": main effect", got.Factors[0].Pairs[0].Log, 0.2, 1e-12)
		near(t, name+": interaction", got.Interactions[0].Tetrads[0].Log, 0.2, 1e-12)
		near(t, name+": width", got.Factors[0].Pairs[0].High-got.Factors[0].Pairs[0].Low, 0, 1e-12)
	}
	// A combination without any trial is in no average.
	got := effects(factorial([]string{"a", "b"}, []int{2, 3}, 8, func(at []int, round int) float64 {
		if at[0] == 0 && at[1] == 2 {
			return math.NaN()
		}
		return truth(at, round)
	}), EffectOptions{})
	near(t, "without a combination", got.Factors[0].Pairs[0].Log, 0.2, 1e-12)
}

func TestWhetherAFactorMatters(t *testing.T) {
	noise := []float64{1, -1, 0.5, -0.5, 0.8, -0.8, 0.2, -0.2}
	for name, c := range map[string]struct {
		effect, noise float64
		want          Matters
	}{
		"a difference above the threshold":  {0.10, 0.01, MattersYes},
		"no difference":                     {0.001, 0.01, MattersNo},
		"a shown difference far below":      {0.005, 0.001, MattersNo},
		"a shown one that may be above":     {0.02, 0.015, MattersNotShown},
		"a large one, but nothing is shown": {0.10, 0.5, MattersNotShown},
	} {
		got := effects(factorial([]string{"a"}, []int{3}, len(noise), func(at []int, round int) float64 {
			return c.effect*float64(at[0]/2) + c.noise*noise[(round+3*at[0])%len(noise)]
		}), EffectOptions{Threshold: 0.03}).Factors[0]
		if got.Matters != c.want {
			t.Errorf("%s: %s, want %s; %+v", name, got.Matters, c.want, got.Pairs)
		}
		if got.Largest == nil || got.Largest.Of != 2 && c.noise < c.effect {
			t.Errorf("%s: largest %+v", name, got.Largest)
		}
	}
}

func TestEffectsOfTablesThatShowNothing(t *testing.T) {
	for name, c := range map[string]struct {
		o      Observations
		levels int
	}{
		"no rows":       {Observations{Factors: []Factor{{Name: "a"}}}, 0},
		"one level":     {factorial([]string{"a"}, []int{1}, 5, func([]int, int) float64 { return 1 }), 1},
		"one round":     {factorial([]string{"a"}, []int{2}, 1, func([]int, int) float64 { return 1 }), 2},
		"never at once": {factorial([]string{"a"}, []int{2}, 6, func(at []int, round int) float64 { return math.Log(float64((at[0] + round) % 2)) }), 2},
	} {
		got := effects(c.o, EffectOptions{Threshold: 0.03})
		f := got.Factors[0]
		if len(f.Levels) != c.levels || f.Matters != MattersNotShown {
			t.Errorf("%s: %+v", name, f)
		}
		for _, p := range f.Pairs {
			if !math.IsNaN(p.P) || !math.IsNaN(p.Holm) || !math.IsNaN(p.Low) || p.Equivalent {
				t.Errorf("%s: %+v", name, p)
			}
		}
	}
	zeros := effects(factorial([]string{"a"}, []int{2}, 6, func(at []int, round int) float64 { return math.Log(float64((at[0] + round) % 2)) }), EffectOptions{})
	if zeros.NotPositive != 6 || zeros.Factors[0].Largest != nil {
		t.Errorf("figures of 0: %+v", zeros)
	}
	onlyRounds := effects(factorial([]string{"a", "b"}, []int{2, 2}, 4, func(_ []int, round int) float64 { return 1.1 * float64(round) }), EffectOptions{})
	if f := onlyRounds.Factors[0]; f.Share != 0 || !(onlyRounds.Variation.Blocks > 0.999) {
		t.Errorf("figures that differ between rounds only: %+v of %+v", f, onlyRounds.Variation)
	}
	equal := effects(factorial([]string{"a", "b"}, []int{2, 2}, 6, func([]int, int) float64 { return 1 }), EffectOptions{Threshold: 0.03})
	if f := equal.Factors[0]; f.Matters != MattersNo || f.Share != 0 || f.Pairs[0].P != 1 {
		t.Errorf("figures that are all equal: %+v", f)
	}
}

func TestTooManyTetradsAreNotTested(t *testing.T) {
	got := effects(factorial([]string{"a", "b"}, []int{25, 25}, 2, func(at []int, round int) float64 { return float64(at[0]*at[1]*round%5) / 10 }), EffectOptions{})
	if len(got.Interactions) != 1 || got.Interactions[0].Tetrads != nil {
		t.Errorf("%d tetrads", len(got.Interactions[0].Tetrads))
	}
}

func BenchmarkEffectsOfALargeDesign(b *testing.B) {
	r := source(1)
	o := factorial([]string{"a", "b", "c"}, []int{20, 4, 5}, 12, func([]int, int) float64 { return 0.02 * r.NormFloat64() })
	for b.Loop() {
		effects(o, EffectOptions{Threshold: 0.03})
	}
}
