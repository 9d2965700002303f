package series

import "math"

// Unknown is what a [Source] writes where it has no value.
const Unknown = math.MinInt64

// unknownRow is a row without a value.
func unknownRow(n int) []int64 {
	row := make([]int64, n)
	for i := range row {
		row[i] = Unknown
	}
	return row
}

// Column is one figure of a source.
type Column struct {
	Key   string // a measure.SeriesKey
	Gauge bool   // its value counts, not its difference between two readings
	Quiet bool   // a gauge that is left out where it is always zero
}

// Source is where some columns come from. A sampler calls its functions from one goroutine at
// a time.
type Source struct {
	Columns []Column
	// Read writes one value a column. It must not keep the row, and need not set what is
	// unknown.
	Read func(row []int64)
	// Close frees what Read needs; nil frees nothing.
	Close func()
	// Seldom is how many readings there are to one of this source, at least: less than 2 is
	// every time.
	Seldom int
}

// opener makes a source; one without columns has nothing to read here.
type opener func() Source

// counters are columns of counters with these keys.
func counters(keys ...string) []Column {
	out := make([]Column, len(keys))
	for i, key := range keys {
		out[i].Key = key
	}
	return out
}

// none is a source that is not there.
func none() Source { return Source{} }
