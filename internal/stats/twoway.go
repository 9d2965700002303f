package stats

import "math"

// twoWay is what is left of a table, patterns by rounds, without the means of patterns and
// of rounds. Rounds with fewer than two values have no residuals.
type twoWay struct {
	residuals [][]float64 // NaN where there is none
	effects   []float64   // of each pattern, as means of a table without gaps; NaN for none
	df        float64     // degrees of freedom of the residuals
	rounds    float64     // that have residuals
	// lagOne is the autocorrelation of the residuals of neighbouring rounds, pooled over
	// patterns: the sum of products over that of squares, as of a table without gaps.
	lagOne float64
}

// residualsOf fits the table by least squares. Rows and columns are centred in turn until
// nothing changes: once is enough for a table without gaps.
func residualsOf(logs [][]float64) twoWay {
	t := twoWay{residuals: make([][]float64, len(logs)), effects: make([]float64, len(logs))}
	columns := 0
	for i, row := range logs {
		columns = max(columns, len(row))
		t.residuals[i] = make([]float64, len(row))
		for j, v := range row {
			if t.residuals[i][j] = v; !finite(v) {
				t.residuals[i][j] = math.NaN()
			}
		}
	}
	counts := t.dropSingles(columns)
	for range 200 {
		if t.sweep(counts) < 1e-12*math.Sqrt(t.meanSquare()) {
			break
		}
	}
	t.summarise(counts)
	return t
}

// dropSingles removes the only value of a round. It returns how many each round has.
func (t *twoWay) dropSingles(columns int) []int {
	counts := make([]int, columns)
	for _, row := range t.residuals {
		for j, v := range row {
			if !math.IsNaN(v) {
				counts[j]++
			}
		}
	}
	for _, row := range t.residuals {
		for j := range row {
			if counts[j] < 2 {
				row[j] = math.NaN()
			}
		}
	}
	for j := range counts {
		if counts[j] < 2 {
			counts[j] = 0
		}
	}
	return counts
}

// sweep centres every row, then every column, and returns the largest mean that it took
// from a row: 0 once both are centred.
func (t *twoWay) sweep(counts []int) float64 {
	most, sums := 0.0, make([]float64, len(counts))
	for i, row := range t.residuals {
		sum, n := 0.0, 0
		for _, v := range row {
			if !math.IsNaN(v) {
				sum, n = sum+v, n+1
			}
		}
		mean := sum / float64(n)
		if t.effects[i] += mean; n == 0 {
			continue
		}
		most = max(most, math.Abs(mean))
		for j := range row {
			if row[j] -= mean; !math.IsNaN(row[j]) {
				sums[j] += row[j]
			}
		}
	}
	for _, row := range t.residuals {
		for j := range row {
			row[j] -= sums[j] / float64(max(counts[j], 1))
		}
	}
	return most
}

func (t *twoWay) meanSquare() float64 {
	sum, n := 0.0, 0
	for _, row := range t.residuals {
		for _, v := range row {
			if !math.IsNaN(v) {
				sum, n = sum+v*v, n+1
			}
		}
	}
	return sum / float64(max(n, 1))
}

func (t *twoWay) summarise(counts []int) {
	cells, patterns, products, neighbours := 0, 0, 0.0, 0
	for _, row := range t.residuals {
		before, has := math.NaN(), false
		for _, v := range row {
			if !math.IsNaN(v) {
				cells, has = cells+1, true
			}
			if p := v * before; !math.IsNaN(p) {
				products, neighbours = products+p, neighbours+1
			}
			before = v
		}
		if has {
			patterns++
		}
	}
	for _, n := range counts {
		if n > 0 {
			t.rounds++
		}
	}
	t.df = float64(cells-patterns) - t.rounds + 1
	if mean := t.meanSquare(); mean > 0 && neighbours > 0 {
		t.lagOne = products / float64(neighbours) / mean * (t.rounds - 1) / t.rounds
	}
}
