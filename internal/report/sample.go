package report

import (
	"math"
	"slices"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/stats"
)

// Sample is the trials of one pattern under one label, for checks of its figures.
type Sample struct {
	Label   string
	Test    measure.Test
	Pattern string
	Levels  []measure.Level
	Trials  int // that succeeded
	Failed  int

	rounds [][]*measure.Result // that succeeded; one element a round that has any
	limits Row                 // has them alone
}

// Samples are the patterns of a choice, those of one label one after another.
func (c *Choice) Samples() (out []Sample) {
	for _, g := range byLabel(distinct(c.Results), nil) {
		for _, p := range byPattern(g, nil, nil, c.Unvaried[g.label]) {
			s := Sample{Label: g.label, Test: g.test, Pattern: p.name, Levels: p.levels}
			succeeded := successful(p.results)
			s.limits.limit(p.results, Design{Limits: c.Limits})
			s.Trials, s.Failed = len(succeeded), len(p.results)-len(succeeded)
			index := roundIndex(labelled{results: succeeded})
			s.rounds = make([][]*measure.Result, len(index))
			for _, r := range succeeded {
				i := index[roundOf(r)]
				s.rounds[i] = append(s.rounds[i], r)
			}
			out = append(out, s)
		}
	}
	return out
}

// Limit is the smallest documented limit of a figure, or nil if there is none.
func (s *Sample) Limit(m *metric.Definition) *measure.Limit {
	if l := s.limits.Limit(m); l != nil {
		return &l.Limit
	}
	return nil
}

// Interval is a figure of a pattern, in the metric's unit. Value is NaN where no trial has
// it; Low and High, its interval, with fewer than two rounds.
type Interval struct {
	Value, Low, High float64
	Rounds           int  // that have the figure
	TooFew           bool // samples for a percentile, as in [stats.Percentile]: no interval
}

// Interval is a figure over the trials with its interval at a confidence level such as 0.95:
// of a percentile of round trips that of [stats.MergedPercentile], and of other figures that
// of [stats.AutocorrelationAdjusted] on the figures of the rounds, each made of the round's trials as a row
// has it of all trials.
func (s *Sample) Interval(m *metric.Definition, level float64) Interval {
	out, values := s.interval(m, level)
	if values != nil {
		out.set(stats.AutocorrelationAdjusted(values, level))
	}
	return out
}

// Intervals are the intervals of a figure of several patterns. Those of means of one label have
// their variances drawn together ([stats.IntervalsTogether]); the others are those of
// [Sample.Interval].
func Intervals(samples []Sample, m *metric.Definition, level float64) []Interval {
	out, means := make([]Interval, len(samples)), make([][]float64, len(samples))
	labels := map[string][]int{}
	for i := range samples {
		if out[i], means[i] = samples[i].interval(m, level); means[i] != nil {
			labels[samples[i].Label] = append(labels[samples[i].Label], i)
		}
	}
	for _, of := range labels {
		var rows [][]float64
		for _, i := range of {
			rows = append(rows, means[i])
		}
		for n, together := range stats.IntervalsTogether(rows, level) {
			out[of[n]].set(together)
		}
	}
	return out
}

func (e *Interval) set(i stats.AdjustedInterval) { e.Low, e.High = max(i.Low, 0), i.High }

// interval is the interval of a percentile, or that of a mean without its limits, which follow
// from the means of the rounds.
func (s *Sample) interval(m *metric.Definition, level float64) (out Interval, means []float64) {
	out = Interval{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
	if m.Over == metric.Merged && m.Quantile > 0 {
		out.percentile(m, s.rounds, level)
		return out, nil
	}
	var values []float64
	rangeOnly := false
	for _, results := range s.rounds {
		var merged *measure.Histogram
		if m.Of != nil {
			merged = mergedHistogram(m.Of, results)
		}
		if f, found := combined(m, results, merged, nil); found && plausible(f.Value) {
			values, rangeOnly = append(values, f.Value), rangeOnly || f.RangeOnly
		}
	}
	out.Value, out.Rounds = stats.Mean(values), len(values)
	if rangeOnly {
		return out, nil
	}
	return out, values
}

// percentile reads a percentile from the histograms of rounds. A round may have too few round
// trips for a percentile of its own: those of all rounds together decide on the value.
func (e *Interval) percentile(m *metric.Definition, rounds [][]*measure.Result, level float64) {
	all := measure.NewHistogram()
	var histograms []*measure.Histogram
	for _, results := range rounds {
		if h := mergedHistogram(m.Of, results); h != nil {
			histograms = append(histograms, h)
			all.Merge(h)
		}
	}
	if e.Rounds = len(histograms); e.Rounds == 0 {
		return
	}
	edges := edgesOf(all)
	counts := make([][]int64, len(histograms))
	for i, h := range histograms {
		counts[i] = make([]int64, len(edges)-1)
		for _, b := range h.Buckets() {
			at, _ := slices.BinarySearch(edges, float64(b.From))
			counts[i][at] += b.Count
		}
	}
	if measure.SupportsPercentile(all.Count(), m.Quantile) {
		e.Value = m.Read(all)
	}
	p := stats.MergedPercentile(edges, counts, m.Quantile, level)
	if e.TooFew = p.TooFew; !p.TooFew {
		// The report reads the upper limit of a bin, the interval is of values inside it.
		e.Low, e.High = min(p.Low, e.Value), max(p.High, e.Value)
	}
}

// edgesOf are the limits of the occupied bins of a histogram, and of the gaps between them, in
// ns.
func edgesOf(h *measure.Histogram) (edges []float64) {
	for _, b := range h.Buckets() {
		if from := float64(b.From); len(edges) == 0 || edges[len(edges)-1] < from {
			edges = append(edges, from)
		}
		edges = append(edges, float64(b.To)+1)
	}
	return edges
}
