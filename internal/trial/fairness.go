package trial

import (
	"math"

	"soku/internal/measure"
	"soku/internal/stats"
)

// fairness returns how evenly the streams of a flow shared its goodput, or nil if the flow has
// one stream or no byte was counted.
func fairness(f *measure.Flow) *measure.Fairness {
	shares := f.StreamBps()
	if len(shares) < 2 {
		return nil
	}
	index := stats.Jain(shares)
	if math.IsNaN(index) {
		return nil
	}
	low, high := stats.Range(shares)
	return &measure.Fairness{JainIndex: index, MinBps: low, MedianBps: stats.Median(shares), MaxBps: high}
}

// lessFair is that of two directions whose streams shared it less evenly.
func lessFair(a, b *measure.Fairness) *measure.Fairness {
	if a == nil || b != nil && b.JainIndex < a.JainIndex {
		return b
	}
	return a
}
