package report

import (
	"math"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/stats"
)

// Figure is one metric over the successful trials of a pattern.
type Figure struct {
	Metric *metric.Definition
	// Value is what [metric.Definition.Over] makes of the trials; where that is a
	// range, its smaller end.
	Value float64
	// Spread is over the single trials. What is read from merged histograms or from
	// sums has none.
	Spread
	// RangeOnly is set where trials are the ends of a published range: their mean
	// is of no trials that were made.
	RangeOnly bool
}

// Spread describes one figure over the successful trials of a pattern.
type Spread struct {
	Mean float64 `json:"mean"` // of the round means
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
	CV   float64 `json:"cv"` // standard deviation / mean over trials, 0 with one trial
	N    int     `json:"n"`
}

// part is a side of the figure, absent where there is none.
func (f *Figure) part(p metric.Part) (float64, bool) {
	switch p {
	case metric.PartMean:
		return f.Mean, !f.RangeOnly
	case metric.PartMin:
		return f.Min, true
	case metric.PartMax:
		return f.Max, true
	}
	return f.Value, true
}

// Figure is a metric of the row by its key, nil where no trial has it.
func (r *Row) Figure(key string) *Figure {
	return find(r.Figures, func(f *Figure) bool { return f.Metric.Key == key })
}

func (r *Row) figure(m *metric.Definition) *Figure { return r.Figure(m.Key) }

// Histogram are the round trips of all trials of the pattern together, nil where
// there are none.
func (r *Row) Histogram(d *metric.Distribution) *measure.Histogram { return r.histograms[d] }

// combine makes the figures of a row. The results are those of its trials that
// succeeded.
func (r *Row) combine(test measure.Test, results []*measure.Result, rounds map[int]int) {
	r.histograms = map[*metric.Distribution]*measure.Histogram{}
	for _, f := range metric.Of(test).Families {
		for _, m := range f.Metrics {
			if len(m.ReportMembers()) == 0 {
				continue
			}
			if _, merged := r.histograms[m.Of]; m.Of != nil && !merged {
				r.histograms[m.Of] = mergedHistogram(m.Of, results)
			}
			if figure, found := combined(m, results, r.histograms[m.Of], rounds); found {
				r.Figures = append(r.Figures, figure)
			}
		}
	}
}

// mergedHistogram is nil where no result has round trips.
func mergedHistogram(d *metric.Distribution, results []*measure.Result) *measure.Histogram {
	var out *measure.Histogram
	for _, r := range results {
		for _, h := range d.Of(r) {
			if h.Count() == 0 {
				continue
			}
			if out == nil {
				out = measure.NewHistogram()
			}
			out.Merge(h)
		}
	}
	return out
}

// combined is a metric over trials that succeeded, as the metric says.
func combined(m *metric.Definition, results []*measure.Result, merged *measure.Histogram, rounds map[int]int) (f Figure, found bool) {
	f = Figure{Metric: m}
	switch m.Over {
	case metric.Merged:
		if merged == nil || !measure.SupportsPercentile(merged.Count(), m.Quantile) {
			return f, false
		}
		f.Value = m.Read(merged)
		return f, true
	case metric.RatioOfSums:
		f.Value, found = ratioOfSums(m, results)
		return f, found
	case metric.MeanOfTrials:
		rounds = nil // all in one round
	}
	values := perRound(results, rounds, m.Value)
	spread := spreadOf(values)
	if spread == nil {
		return f, false
	}
	f.Spread = *spread
	switch m.Over {
	case metric.Range, metric.Smallest:
		f.Value = f.Min
	case metric.Largest:
		f.Value = f.Max
	case metric.Sum:
		for _, round := range values {
			for _, v := range round {
				f.Value += v
			}
		}
	default:
		f.Value = f.Mean
	}
	if m.Over == metric.MeanOrEnds {
		for _, r := range results {
			if _, has := m.Value(r); has && r.IsRangeEnd() {
				f.RangeOnly = true
			}
		}
	}
	return f, true
}

// ratioOfSums is 0 where the whole is.
func ratioOfSums(m *metric.Definition, results []*measure.Result) (ratio float64, found bool) {
	var part, whole float64
	for _, r := range results {
		if p, w, has := m.Parts(r); has {
			part, whole, found = part+p, whole+w, true
		}
	}
	if whole > 0 {
		ratio = part / whole
	}
	return ratio, found
}

// perRound sorts a figure of trials into rounds, which are all one where rounds
// is empty.
func perRound(results []*measure.Result, rounds map[int]int, take func(*measure.Result) (float64, bool)) [][]float64 {
	out := make([][]float64, max(len(rounds), 1))
	for _, r := range results {
		if v, ok := take(r); ok && plausible(v) {
			i := rounds[roundOf(r)]
			out[i] = append(out[i], v)
		}
	}
	return out
}

// plausible keeps damaged documents from making sums overflow: no network and
// no wait comes near 1e18 bit/s or ns.
func plausible(v float64) bool { return v >= 0 && v <= 1e18 }

// spreadOf describes a figure by its values, one element a round, nil for none.
func spreadOf(values [][]float64) *Spread {
	var all, means []float64
	for _, round := range values {
		if len(round) > 0 {
			all, means = append(all, round...), append(means, stats.Mean(round))
		}
	}
	if len(all) == 0 {
		return nil
	}
	s := &Spread{Mean: stats.Mean(means), N: len(all)}
	s.Min, s.Max = stats.Range(all)
	s.CV = whole(stats.CV(all))
	return s
}

// finite is v for JSON, nil where v is not a number.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// whole is v, or 0 where there is none.
func whole(v float64) float64 {
	if f := finite(v); f != nil {
		return *f
	}
	return 0
}
