package stats

import "math"

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
