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
