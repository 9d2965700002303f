package metric

import (
	"slices"

	"soku/internal/measure"
)

// Definition is one figure that results have: its name in documents, how it is taken
// from a result, how it combines over trials, and how it is written. Rows,
// columns, rankings and headlines are made from the metrics of a test
// ([Of]); a new figure is one entry of a [Family].
//
// A Definition does not change and may be used by several goroutines.
type Definition struct {
	Key      string // name in documents, with its unit at the end: "goodput_bps"
	Help     string // what it is, for the reference
	Quantity Quantity
	Unit     string // of a value that stands alone: "bit/s"
	Suffix   string // unit at the end of the names of CSV columns: "bps"
	Better   Better
	Over     Combination

	// Take is the figure of one successful trial. It is nil where Of and Read say
	// how: see [Definition.Value]. It reads nothing that [measure.Result.WithoutSeries] leaves out.
	Take func(*measure.Result) (value float64, found bool)
	// Of is the distribution that the metric belongs to, nil for most. Read takes
	// it from a histogram that is not empty.
	Of   *Distribution
	Read func(*measure.Histogram) float64
	// Quantile is the share of round trips that do not exceed a percentile, 0 to 1. It is 0 for
	// other figures.
	Quantile float64
	// Parts are what [RatioOfSums] adds up.
	Parts func(*measure.Result) (part, whole float64, found bool)
	// Ranks reports whether trials can be ranked by the metric; nil: always.
	Ranks func([]*measure.Result) bool

	// Member is where the JSON form of a report has it in a row, members of
	// members separated by dots; empty: nowhere. A metric of a distribution is a
	// number there, others are an object of mean, min, max, cv and n.
	Member string
	CSV    CSVForm
	Column *Column // in tables for people; nil: in none
}

// Better says which values of a metric are the better ones.
type Better string

// The values of Better.
const (
	Higher  Better = "higher"
	Lower   Better = "lower"
	Neither Better = ""
)

// Quantity is what kind of thing a metric counts, which decides how it is written.
type Quantity string

// The quantities. Values are in the unit that is named here.
const (
	QuantityBitRate   Quantity = "bit rate"   // bit/s
	QuantityTime      Quantity = "time"       // ns
	QuantityBytes     Quantity = "bytes"      // bytes
	QuantityCount     Quantity = "count"      // whole things
	QuantityEventRate Quantity = "event rate" // per second, or as the metric's unit says
	QuantityRatio     Quantity = "ratio"      // 0 to 1, shown in percent
	QuantityIndex     Quantity = "index"      // 0 to 1
	QuantityCost      Quantity = "cost"       // processor seconds per 1e9 bytes
)

// Quantities lists all of them.
func Quantities() []Quantity {
	return []Quantity{
		QuantityBitRate, QuantityTime, QuantityBytes, QuantityCount, QuantityEventRate, QuantityRatio, QuantityIndex, QuantityCost,
	}
}

// Combination is how the values of several trials become one figure.
type Combination string

// The combinations.
const (
	// MeanOfRounds is the mean of the means of each round, so that a round with
	// more trials does not count more.
	MeanOfRounds Combination = "mean of round means"
	// MeanOrEnds is MeanOfRounds, but of the ends of a published range only the
	// range: their mean is of no trials that were made.
	MeanOrEnds Combination = "mean of round means; of a published range its ends"
	// MeanOfTrials counts every trial alike.
	MeanOfTrials Combination = "mean of trials"
	// Merged reads the figure from the histograms of all trials together.
	Merged Combination = "merged histogram"
	// Range keeps the smallest and the largest trial: percentiles are not averaged.
	Range       Combination = "smallest and largest trial"
	Smallest    Combination = "smallest trial"
	Largest     Combination = "largest trial"
	Sum         Combination = "sum"
	RatioOfSums Combination = "ratio of sums"
)

// Combinations lists all of them.
func Combinations() []Combination {
	return []Combination{MeanOfRounds, MeanOrEnds, MeanOfTrials, Merged, Range, Smallest, Largest, Sum, RatioOfSums}
}

// Distribution is a set of round trips that results keep as histograms.
type Distribution struct {
	Member string // where the JSON form of a report has it in a row
	// Of returns the histograms of one result; they may be nil or empty.
	Of func(*measure.Result) []*measure.Histogram
}

// Histogram is the distribution of one result, nil where it has none. The caller
// must not change it.
func (d *Distribution) Histogram(r *measure.Result) *measure.Histogram {
	var out *measure.Histogram
	merged := false
	for _, h := range d.Of(r) {
		switch {
		case h == nil || h.Count() == 0:
		case out == nil:
			out = h
		default:
			if !merged {
				first := out
				out, merged = measure.NewHistogram(), true
				out.Merge(first)
			}
			out.Merge(h)
		}
	}
	return out
}

// CSVForm is which columns of a CSV report a metric has.
type CSVForm int

// The forms.
const (
	CSVWhole CSVForm = iota // all that its combination has
	CSVMean                 // the mean alone
	CSVNone
)

// Column is how a table for people shows a metric. Its heading, and what that means, are
// messages of the catalogue: metric.KEY and metric_note.KEY.
type Column struct {
	// Drop orders what a narrow table leaves out: the column with the highest
	// value goes first, 0 always stays.
	Drop int
	// Ends shows the smallest and the largest trial instead of one figure.
	Ends bool
	Show Show
	// Extra are columns of the same metric that follow.
	Extra []ExtraColumn
	// Scales is set on columns whose figures choose the unit that all columns of
	// their family and quantity share. Of one distribution the lowest number counts
	// that a row has. A column of a quantity without any such chooses its own.
	Scales int
	// Instead is what stands in the column for a row that does not have the
	// metric; nil: nothing.
	Instead *Definition
}

// ExtraColumn shows another side of a metric: the range over trials, or the
// coefficient of variation.
type ExtraColumn struct {
	Drop      int // as in [Column]
	Variation bool
	Show      Show // WhereFound: where a row has several trials
}

// Show says when a table has a column.
type Show int

// The values of Show.
const (
	WhereFound Show = iota // where any row has the figure
	Always
	UnlessIngested // always, but among ingested trials where any row has it
)

// Family is metrics that belong together: a test has all of a family or none.
type Family struct {
	Title   string
	Note    string        // for the reference, a sentence or nothing
	Metrics []*Definition // in the order of tables and of the reference
}

// metric is the family's metric of that key, which exists.
func (f *Family) metric(key string) *Definition {
	i := slices.IndexFunc(f.Metrics, func(m *Definition) bool { return m.Key == key })
	return f.Metrics[i]
}

// All lists every metric, those of one family together.
func All() []*Definition {
	var out []*Definition
	for _, f := range families() {
		out = append(out, f.Metrics...)
	}
	return out
}

// ByKey is the metric of that key, nil for none.
func ByKey(key string) *Definition {
	all := All()
	if i := slices.IndexFunc(all, func(m *Definition) bool { return m.Key == key }); i >= 0 {
		return all[i]
	}
	return nil
}

// Value is the metric of one result, which the caller knows to have succeeded.
func (m *Definition) Value(r *measure.Result) (value float64, found bool) {
	if m.Take != nil {
		return m.Take(r)
	}
	if h := m.Of.Histogram(r); h != nil {
		return m.Read(h), true
	}
	return 0, false
}

// Tests lists the tests that have the metric, in the order of [measure.Tests].
func (m *Definition) Tests() []measure.Test {
	var out []measure.Test
	for _, t := range measure.Tests() {
		if slices.ContainsFunc(Of(t).Families, func(f *Family) bool { return slices.Contains(f.Metrics, m) }) {
			out = append(out, t)
		}
	}
	return out
}
