package stats

import (
	"fmt"
	"math"
	"testing"
)

func TestResidualsOfATableWithGapsAreThoseOfLeastSquares(t *testing.T) {
	logs := table(2, []float64{0, 1, 2, 3, 4}, 9, 0.1)
	for i := range logs {
		logs[i][(2*i)%9], logs[i][(i*i+3)%9] = math.NaN(), math.NaN()
	}
	got := residualsOf(logs)
	// Least squares: residuals of every pattern and of every round add up to 0.
	sums := make([]float64, 9)
	cells := 0
	for i, row := range got.residuals {
		sum := 0.0
		for j, v := range row {
			if math.IsNaN(v) != math.IsNaN(logs[i][j]) {
				t.Errorf("residual of %d, %d: %g", i, j, v)
			}
			if !math.IsNaN(v) {
				cells++
				sum += v
				sums[j] += v
			}
		}
		near(t, fmt.Sprint("sum of pattern ", i), sum, 0, 1e-10)
	}
	for j, sum := range sums {
		near(t, fmt.Sprint("sum of round ", j), sum, 0, 1e-10)
	}
	near(t, "degrees of freedom", got.df, float64(cells-5-9+1), 0)
	for i := range logs[1:] {
		near(t, fmt.Sprint("effect ", i+1), got.effects[i+1]-got.effects[i], 1, 0.3)
	}
}

func TestARoundOfOnePatternHasNoResidual(t *testing.T) {
	logs := table(3, []float64{0, 0, 0, 0}, 6, 0.1)
	want := residualsOf(logs)
	for i := range logs {
		logs[i] = append(logs[i], math.NaN())
	}
	logs[2][6] = 50
	got := residualsOf(logs)
	if got.df != want.df || got.rounds != want.rounds {
		t.Errorf("df %g, %g rounds; want %g, %g", got.df, got.rounds, want.df, want.rounds)
	}
	near(t, "lag-1 autocorrelation", got.lagOne, want.lagOne, 1e-9)
}
