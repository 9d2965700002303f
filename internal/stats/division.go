package stats

import (
	"math"
	"slices"
)

// division is a division of a series into parts of one level each.
type division struct {
	cuts         []int // index of the first value of each part but the first
	means        []float64
	explained, z float64
}

// levelDivisions returns the divisions of a series into two to four parts whose levels are
// distinct, as in [FindLevels], the finest first. It takes time in the square of the values.
func levelDivisions(series []float64) []division {
	sums := cumulateSquares(series)
	least := max(2, (len(series)+19)/20)
	line := sums.lineResidual()
	var found []division
	for _, cuts := range sums.divide(mostLevels, least) {
		if d := (division{cuts: cuts}); d.distinct(series, sums, line) {
			found = append(found, d)
		}
	}
	slices.Reverse(found)
	return found
}

// distinct reports whether the parts are levels, and sets what it finds out about them.
func (d *division) distinct(series []float64, sums runningSums, line float64) bool {
	limits := slices.Concat([]int{0}, d.cuts, []int{len(series)})
	var residuals []float64
	var rest float64
	for i := range len(limits) - 1 {
		part := series[limits[i]:limits[i+1]]
		d.means = append(d.means, Mean(part))
		for _, v := range part {
			residuals = append(residuals, v-d.means[i])
			rest += square(v - d.means[i])
		}
	}
	d.explained = 1 - rest/sums.residual(0, len(series))
	sd := math.Sqrt(rest/float64(len(series)-len(d.means))) * inflation(residuals)
	d.z = math.Inf(1)
	for i := range d.cuts {
		before, after := series[limits[i]:limits[i+1]], series[limits[i+1]:limits[i+2]]
		change := math.Abs(d.means[i] - d.means[i+1])
		d.z = min(d.z, change/(sd*math.Sqrt(1/float64(len(before))+1/float64(len(after)))))
		if change < leastChange*max(d.means[i], d.means[i+1]) || !rangesApart(before, after) {
			return false
		}
	}
	return d.explained > leastExplained && d.z > leastZ && rest < mostOfLine*line
}

func rangesApart(a, b []float64) bool {
	return slices.Max(a) < slices.Min(b) || slices.Max(b) < slices.Min(a)
}

// runningSums are the sums and the sums of squares of the values before each index, of
// values from which the series' mean was subtracted.
type runningSums struct{ sum, squares []float64 }

func cumulateSquares(series []float64) runningSums {
	mean, n := Mean(series), len(series)
	r := runningSums{make([]float64, n+1), make([]float64, n+1)}
	for i, v := range series {
		r.sum[i+1], r.squares[i+1] = r.sum[i]+v-mean, r.squares[i]+square(v-mean)
	}
	return r
}

// residual is the sum of squared residuals of values i to j-1 from their mean.
func (r runningSums) residual(i, j int) float64 {
	return max(r.squares[j]-r.squares[i]-square(r.sum[j]-r.sum[i])/float64(j-i), 0)
}

// lineResidual is that of all values from their least-squares line.
func (r runningSums) lineResidual() float64 {
	n := len(r.sum) - 1
	middle, product, width := float64(n-1)/2, 0.0, 0.0
	for i := range n {
		product += (float64(i) - middle) * (r.sum[i+1] - r.sum[i])
		width += square(float64(i) - middle)
	}
	return r.residual(0, n) - product*product/width
}

// divide returns, for two parts to most, the cuts of the division with the least residual
// whose parts have at least the given length, by dynamic programming (Fisher 1958).
func (r runningSums) divide(most, length int) [][]int {
	n := len(r.sum) - 1
	costs := make([]float64, n+1) // of the best division of the first j values into the present number of parts
	for j := range costs {
		costs[j] = r.residual(0, max(j, 1))
	}
	var out [][]int
	var last [][]int // for each number of parts from 2: where the last one begins
	for parts := 2; parts <= most && parts*length <= n; parts++ {
		next, begin := make([]float64, n+1), make([]int, n+1)
		for j := parts * length; j <= n; j++ {
			next[j] = math.Inf(1)
			for i := (parts - 1) * length; i <= j-length; i++ {
				if c := costs[i] + r.residual(i, j); c < next[j] {
					next[j], begin[j] = c, i
				}
			}
		}
		costs, last = next, append(last, begin)
		cuts, j := make([]int, parts-1), n
		for k := parts - 2; k >= 0; k-- {
			j = last[k][j]
			cuts[k] = j
		}
		out = append(out, cuts)
	}
	return out
}
