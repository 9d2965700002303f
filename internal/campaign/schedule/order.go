package schedule

import (
	"crypto/rand"
	"encoding/binary"
	"math/bits"
	mathrand "math/rand/v2"
	"slices"

	"soku/internal/campaign/plan"
	"soku/internal/measure"
)

// order is the order of the patterns in a round: drawn from seed and round. Where
// factors are changed by hand, patterns that need the same of their levels follow each
// other, in the order in which each combination was first drawn: a person makes each
// change once a round.
func order(p *plan.Plan, seed int64, round int) []int {
	drawn := Shuffled(len(p.AllPatterns()), seed, round)
	if len(p.ByHand()) == 0 {
		return drawn
	}
	first, turns := map[string]int{}, make([]int, len(drawn)) // turns: by pattern
	for turn, i := range drawn {
		key := measure.LevelsKey(p.HandLevels(&p.AllPatterns()[i]))
		if _, known := first[key]; !known {
			first[key] = turn
		}
		turns[i] = first[key]
	}
	slices.SortStableFunc(drawn, func(a, b int) int { return turns[a] - turns[b] })
	return drawn
}

// DrawSeed returns a seed for a plan that has none. It is below 2^53, so that
// every JSON reader keeps it whole.
func DrawSeed() int64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return int64(binary.LittleEndian.Uint64(b[:]) >> 11)
}

// shuffledPairs are the pairs in an order drawn from the seed, the round and the number
// of the pattern.
func shuffledPairs(pairs [][2]int32, seed int64, round, pattern int) [][2]int32 {
	if len(pairs) == 1 {
		return pairs
	}
	out := make([][2]int32, len(pairs))
	for i, n := range Shuffled(len(pairs), seed, round+(pattern+1)<<32) {
		out[i] = pairs[n]
	}
	return out
}

// Shuffled is a permutation of 0..n-1 (Fisher and Yates, after Durstenfeld). It
// is written out so that no library changes the order of a recorded seed; the
// PCG generator's numbers are fixed by its definition.
func Shuffled(n int, seed int64, of int) []int {
	g := mathrand.NewPCG(uint64(seed), uint64(of))
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	for i := n - 1; i > 0; i-- {
		j, _ := bits.Mul64(g.Uint64(), uint64(i+1)) // even to within i/2^64
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// SearchGroups are the searches of a round, by their numbers, in groups that need the same
// levels of factors that are changed by hand: a person makes each change once a round. The
// groups are in an order drawn from the seed.
func SearchGroups(p *plan.Plan, seed int64, round int) [][]int {
	var out [][]int
	at, groups := map[string]int{}, p.PatternsBySearch()
	for _, i := range Shuffled(len(groups), seed, round) {
		key := measure.LevelsKey(p.HandLevels(&p.AllPatterns()[groups[i][0]]))
		if _, known := at[key]; !known {
			at[key] = len(out)
			out = append(out, nil)
		}
		out[at[key]] = append(out[at[key]], i)
	}
	return out
}
