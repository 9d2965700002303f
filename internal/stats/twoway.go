package stats

import "math"

// twoWay is what is left of a table, patterns by rounds, without the means of patterns and
// of rounds. Rounds with fewer than two values have no residuals.
type twoWay struct {
	residuals [][]float64 // NaN where there is none
	effects   []float64   // of each pattern, as means of a table without gaps; NaN for none
	cells     int         // that have residuals
	df        float64     // degrees of freedom of the residuals
	rounds    float64     // that have residuals
	// lagOne is the autocorrelation of the residuals of neighbouring rounds, pooled over
	// patterns: the sum of products over that of squares, as of a table without gaps.
	lagOne float64
}

// residualsOf fits the table by least squares. Rows and columns are centred in turn
// (backfitting) until nothing changes: once is enough for a table without gaps.
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
		if t.sweep(columns) < 1e-12*math.Sqrt(t.meanSquare()) {
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
		t.cells += counts[j]
	}
	return counts
}

// sweep centres every row, then every column, and returns the largest mean that it took
// from a row: 0 once both are centred.
func (t *twoWay) sweep(columns int) float64 {
	most := sweepMeans(t.residuals, t.effects, func(pattern, _ int) int { return pattern })
	sweepMeans(t.residuals, make([]float64, columns), func(_, round int) int { return round })
	return most
}

// meanSquare is that of the residuals, 0 for none.
func (t *twoWay) meanSquare() float64 { return sumSquares(t.residuals) / float64(max(t.cells, 1)) }

// autocorrelation is that of neighbouring rounds, without bias, as far as it is allowed for.
func (t *twoWay) autocorrelation() float64 { return limited(unbiasedLagOne(t.lagOne, t.rounds)) }

// pairVariance is the variance of a difference of two patterns that vary as all of the table do:
// twice the residual mean square.
func (t *twoWay) pairVariance() float64 { return 2 * sumSquares(t.residuals) / t.df }

// summarise sets the figures of the residuals. counts has the number of residuals of each round.
func (t *twoWay) summarise(counts []int) {
	patterns, products, neighbours := 0, 0.0, 0
	for i, row := range t.residuals {
		before, has := math.NaN(), false
		for _, v := range row {
			has = has || !math.IsNaN(v)
			if p := v * before; !math.IsNaN(p) {
				products, neighbours = products+p, neighbours+1
			}
			before = v
		}
		if !has {
			t.effects[i] = math.NaN()
			continue
		}
		patterns++
	}
	for _, n := range counts {
		if n > 0 {
			t.rounds++
		}
	}
	t.df = float64(t.cells-patterns) - t.rounds + 1
	if mean := t.meanSquare(); mean > 0 && neighbours > 0 {
		t.lagOne = products / float64(neighbours) / mean * (t.rounds - 1) / t.rounds
	}
}

func sumSquares(rows [][]float64) float64 {
	var sum float64
	for _, row := range rows {
		for _, v := range row {
			if !math.IsNaN(v) {
				sum += v * v
			}
		}
	}
	return sum
}

// sweepMeans is one step of backfitting (A. Buja, T. Hastie, R. Tibshirani, "Linear Smoothers
// and Additive Models", The Annals of Statistics 17, 1989): it subtracts from the rest the mean
// of each class of values and adds it to the class's effect. NaN is no value. It returns the
// largest mean.
func sweepMeans(rest [][]float64, effects []float64, class func(cell, block int) int) float64 {
	sums, counts := make([]float64, len(effects)), make([]float64, len(effects))
	for cell, row := range rest {
		for block, v := range row {
			if !math.IsNaN(v) {
				sums[class(cell, block)] += v
				counts[class(cell, block)]++
			}
		}
	}
	var largest float64
	for i := range sums {
		if counts[i] > 0 {
			sums[i] /= counts[i]
			effects[i] += sums[i]
			largest = max(largest, math.Abs(sums[i]))
		}
	}
	for cell, row := range rest {
		for block := range row {
			row[block] -= sums[class(cell, block)]
		}
	}
	return largest
}
