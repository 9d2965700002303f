package metric

import "soku/internal/measure"

// statistic is a figure of a distribution of round trips.
type statistic struct {
	name  string // in keys
	words string // in sentences
	read  func(*measure.Histogram) float64
	// reported is the same figure as the source of an ingested result gives it,
	// and over how that combines: nothing is averaged but means.
	reported func(*measure.RTTFigures) *float64
	over     Combination
	quantile float64 // as in [Definition]
}

func statistics() []statistic {
	percentile := func(p float64) func(*measure.Histogram) float64 {
		return func(h *measure.Histogram) float64 { return float64(h.Percentile(p)) }
	}
	return []statistic{
		{"min", "smallest", func(h *measure.Histogram) float64 { return float64(h.Min()) }, func(f *measure.RTTFigures) *float64 { return f.Min }, Smallest, 0},
		{"mean", "mean", meanWithin, func(f *measure.RTTFigures) *float64 { return f.Mean }, MeanOrEnds, 0},
		{"p50", "median", percentile(50), func(f *measure.RTTFigures) *float64 { return f.P50 }, Range, 0.5},
		{"p90", "90th percentile", percentile(90), func(f *measure.RTTFigures) *float64 { return f.P90 }, Range, 0.9},
		{"p95", "95th percentile", percentile(95), func(f *measure.RTTFigures) *float64 { return f.P95 }, Range, 0.95},
		{"p99", "99th percentile", percentile(99), func(f *measure.RTTFigures) *float64 { return f.P99 }, Range, 0.99},
		{"p99_9", "99.9th percentile", percentile(99.9), func(f *measure.RTTFigures) *float64 { return f.P999 }, Range, 0.999},
		{"p99_99", "99.99th percentile", percentile(99.99), func(f *measure.RTTFigures) *float64 { return f.P9999 }, Range, 0.9999},
		{"max", "largest", func(h *measure.Histogram) float64 { return float64(h.Max()) }, func(f *measure.RTTFigures) *float64 { return f.Max }, Largest, 0},
	}
}

// meanWithin is a histogram's mean, which a document has in addition to the buckets, limited
// to their range.
func meanWithin(h *measure.Histogram) float64 {
	return min(max(h.Mean(), float64(h.Min())), float64(h.Max()))
}

// statisticsOf are the figures of a distribution and how many round trips it has.
// Columns go by the statistic's name. Unless csv is set, only the metrics with a
// column are in CSV reports.
func statisticsOf(prefix, of string, d *Distribution, csv bool, columns map[string]*Column) []*Definition {
	var out []*Definition
	for _, s := range statistics() {
		out = append(out, &Definition{
			Key: prefix + "_" + s.name + "_ns", Help: s.words + " of the " + of,
			Quantity: QuantityTime, Unit: "ns", Suffix: "ns", Better: Lower, Over: Merged, Of: d, Read: s.read, Quantile: s.quantile,
			Member: d.Member + "." + s.name, Column: columns[s.name],
		})
	}
	out = append(out, &Definition{
		Key: prefix + "_count", Help: "number of " + of,
		Quantity: QuantityCount, Unit: "round trips", Over: Sum, Of: d, Read: func(h *measure.Histogram) float64 { return float64(h.Count()) },
		Member: d.Member + ".count",
	})
	for _, m := range out {
		if !csv && m.Column == nil {
			m.CSV = CSVNone
		}
	}
	return out
}
