package stats

import (
	"math"
	"slices"
	"testing"
)

// parts joins parts of a series, each n values made from their number in the whole series.
func parts(n int, levels ...func(i int) float64) []float64 {
	var out []float64
	for _, level := range levels {
		for range n {
			out = append(out, level(len(out)))
		}
	}
	return out
}

func constant(v float64) func(int) float64 { return func(int) float64 { return v } }

// alternating is a level with a noise of one size and changing sign.
func alternating(v, noise float64) func(int) float64 {
	return func(i int) float64 { return v + noise*(1-2*float64(i%2)) }
}

func TestFinestDivisionComesFirst(t *testing.T) {
	got := levelDivisions(parts(10, constant(1), alternating(0.5, 0.001), alternating(0.42, 0.001)))
	if len(got) < 2 || !slices.Equal(got[0].cuts, []int{10, 20}) || !slices.Equal(got[1].cuts, []int{10}) {
		t.Errorf("got %+v", got)
	}
}

// Each series fails one condition only.
func TestDivisionsThatAreNoLevels(t *testing.T) {
	wave := func(v float64) func(int) float64 {
		return func(i int) float64 { return v + 0.05*math.Sin(float64(i)*2*math.Pi/10) }
	}
	outlier := parts(20, alternating(1, 0.001), alternating(0.5, 0.001))
	outlier[7] = 0.5
	short := parts(100, alternating(1, 0.001))
	for i := range 3 {
		short[60+i] = 0.5
	}
	for name, series := range map[string][]float64{
		"a small change":                         parts(20, alternating(1, 0.001), alternating(0.86, 0.001)),
		"much noise":                             parts(50, alternating(1, 0.1), alternating(0.7, 0.1)),
		"noise that lasts":                       parts(10, wave(1), wave(0.7)),
		"one block in the range of the neighbor": outlier,
		"a part of less than a twentieth":        short,
		"hardly better than a line":              parts(25, alternating(1, 0.092), alternating(0.8, 0.092), alternating(0.6, 0.092), alternating(0.4, 0.092)),
		"no noise and no change":                 parts(10, constant(1), constant(1)),
	} {
		if got := levelDivisions(series); len(got) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for name, series := range map[string][]float64{
		"a change of 16 %":        parts(20, alternating(1, 0.001), alternating(0.84, 0.001)),
		"less noise":              parts(50, alternating(1, 0.04), alternating(0.7, 0.04)),
		"noise that does not":     parts(10, alternating(1, 0.03), alternating(0.7, 0.03)),
		"no noise":                parts(10, constant(1), constant(0.5)),
		"better than a line":      parts(25, alternating(1, 0.05), alternating(0.8, 0.05), alternating(0.6, 0.05), alternating(0.4, 0.05)),
		"a part of two blocks":    slices.Concat(parts(6, constant(1)), parts(2, constant(0.5))),
		"a part of one twentieth": slices.Concat(parts(95, alternating(1, 0.001)), parts(5, alternating(0.5, 0.001))),
	} {
		if got := levelDivisions(series); len(got) == 0 {
			t.Errorf("%s: no levels", name)
		}
	}
}

// The search finds what trying every division finds.
func TestDivisionHasTheLeastResidual(t *testing.T) {
	r := source(3)
	for range 20 {
		series := make([]float64, 14)
		for i := range series {
			series[i] = r.NormFloat64() + float64(r.IntN(3))
		}
		sums := cumulateSquares(series)
		residual := func(cuts []int) (sum float64) {
			limits := slices.Concat([]int{0}, cuts, []int{len(series)})
			for i := range len(limits) - 1 {
				part := series[limits[i]:limits[i+1]]
				for _, v := range part {
					sum += square(v - Mean(part))
				}
			}
			return sum
		}
		least := math.Inf(1)
		for a := 2; a <= 8; a++ {
			for b := a + 2; b <= 10; b++ {
				for c := b + 2; c <= 12; c++ {
					least = min(least, residual([]int{a, b, c}))
				}
			}
		}
		got := sums.divide(4, 2)
		near(t, "residual", residual(got[2]), least, 1e-9)
	}
}
