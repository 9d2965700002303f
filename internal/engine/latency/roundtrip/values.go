package roundtrip

import (
	"slices"

	"soku/internal/measure"
)

// fewValues is the number of values up to which they are stored individually.
const fewValues = 2048

// values are the round trips of a row or a slice. Few are stored individually, because
// reading and clearing a histogram costs more than all of them; more go to the histogram.
type values struct {
	n, minNs, maxNs int64
	sum             float64
	few             []int64
	many            *measure.Histogram
}

func newValues() values {
	return values{few: make([]int64, 0, fewValues), many: measure.NewHistogram()}
}

func (v *values) add(ns int64) {
	ns = max(ns, measure.HistogramMin)
	if v.n == 0 {
		v.minNs = ns
	}
	v.n++
	v.sum += float64(ns)
	v.minNs, v.maxNs = min(v.minNs, ns), max(v.maxNs, ns)
	if len(v.few) < fewValues {
		v.few = append(v.few, ns)
	} else {
		v.many.Record(ns)
	}
}

// percentiles returns the value at each percentile and empties v, which must not be
// empty. The rank is the histogram's: p percent of the count, rounded.
func (v *values) percentiles(ps ...float64) []float64 {
	out := make([]float64, len(ps))
	if v.n <= fewValues {
		slices.Sort(v.few)
		for i, p := range ps {
			rank := int(p/100*float64(v.n) + 0.5)
			out[i] = float64(v.few[min(max(rank, 1), len(v.few))-1])
		}
	} else {
		for _, ns := range v.few {
			v.many.Record(ns)
		}
		for i, p := range ps {
			out[i] = float64(v.many.Percentile(p))
		}
		v.many.Reset()
	}
	v.n, v.minNs, v.maxNs, v.sum, v.few = 0, 0, 0, 0, v.few[:0]
	return out
}

// summary returns the percentiles of a row that its count supports; it empties v.
func (v *values) summary() measure.Percentiles {
	s := measure.Percentiles{Min: float64(v.minNs), Mean: v.sum / float64(v.n), Max: float64(v.maxNs), Count: v.n}
	p := v.percentiles(50, 90, 95, 99, 99.9, 99.99)
	s.P50, s.P90, s.P95, s.P99, s.P999, s.P9999 = p[0], p[1], p[2], p[3], p[4], p[5]
	return s.Supported()
}
