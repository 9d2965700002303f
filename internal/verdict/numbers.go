package verdict

import (
	"math"
	"slices"
)

// median of a list; not a number for none.
func median(v []float64) float64 { return quantile(v, 0.5) }

// quantile is the value of which that share of the list is below; not a number for an empty
// list.
func quantile(v []float64, share float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(v))
	at := share * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

func least(v []float64) float64 { return quantile(v, 0) }

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// squares is the sum of squared differences from the mean.
func squares(v []float64) float64 {
	m, sum := mean(v), 0.0
	for _, x := range v {
		sum += (x - m) * (x - m)
	}
	return sum
}

// variance of the population.
func variance(v []float64) float64 { return squares(v) / float64(len(v)) }

// correlation is Pearson's, of lists of one length; not a number if one does not vary.
func correlation(a, b []float64) float64 {
	ma, mb, both := mean(a), mean(b), 0.0
	for i := range a {
		both += (a[i] - ma) * (b[i] - mb)
	}
	return both / math.Sqrt(squares(a)*squares(b))
}
