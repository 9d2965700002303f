package stats_test

import (
	"fmt"

	"soku/internal/stats"
)

// Three numbers of streams, measured in six rounds each.
func Example() {
	goodput := []stats.Group{
		{Name: "1 stream", Rounds: [][]float64{{9.12}, {9.08}, {9.15}, {9.11}, {9.09}, {9.13}}},
		{Name: "4 streams", Rounds: [][]float64{{9.41}, {9.40}, {9.44}, {9.39}, {9.42}, {9.43}}},
		{Name: "16 streams", Rounds: [][]float64{{9.42}, {9.38}, {9.45}, {9.41}, {9.40}, {9.43}}},
	}
	for _, r := range stats.Rank(goodput, true, 0) {
		fmt.Printf("%d. %s: %.2f Gbit/s (%.2f to %.2f), %s\n", r.Rank, r.Name, r.Estimate, r.Low, r.High, r.Reason.Code)
	}
	// Output:
	// 1. 4 streams: 9.41 Gbit/s (9.40 to 9.43), rank_highest
	// 1. 16 streams: 9.41 Gbit/s (9.39 to 9.44), rank_no_difference
	// 3. 1 stream: 9.11 Gbit/s (9.09 to 9.14), rank_below
}
