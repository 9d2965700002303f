package report

import (
	"slices"

	"soku/internal/measure"
)

// roundIndex numbers the rounds of a test from 0 without gaps. Trials run by
// hand are one round: nothing interleaved them, so their order tests nothing.
func roundIndex(g labelled) map[int]int {
	var numbers []int
	for _, r := range g.results {
		if n := roundOf(r); !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	out := map[int]int{}
	for i, n := range numbers {
		out[n] = i
	}
	return out
}

// lastRound is the number of the last round of which there are results, whether or not all
// before it are known.
func lastRound(results []*measure.Result) (last int) {
	for _, r := range results {
		last = max(last, roundOf(r))
	}
	return last
}

func roundOf(r *measure.Result) int {
	if r.Trial == nil {
		return 1
	}
	return r.Trial.Round
}

func repeatOf(r *measure.Result) int {
	if r.Trial == nil {
		return 0
	}
	return r.Trial.Repeat
}
