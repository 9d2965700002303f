package plan

import (
	"math/rand/v2"
	"slices"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// ManyIsolated is the number of pairs from which on a plan that compares both ways of contention
// should measure a sample of them one at a time: more take hours.
const ManyIsolated = 60

// checkIsolatedPairs draws the sample of pairs that are measured one at a time.
func (p *Plan) checkIsolatedPairs(d *yamlfile.File) error {
	switch {
	case p.IsolatedPairs == 0:
		return nil
	case len(p.Contention) < 2 || p.Searches():
		return d.LocateAt("isolated_pairs", measure.Fail(measure.KindFile, "campaign.isolated_pairs", nil))
	}
	p.paired.isolated = samplePairs(p.paired.pairs, p.paired.on, p.IsolatedPairs)
	return nil
}

// samplePairs draws n pairs, or all if there are no more. It prefers pairs whose client
// and server are in fewest pairs so far, so that every host is in the sample where that is possible. The same pairs have the same sample, in their order. on has the machine of each end.
func samplePairs(pairs [][2]int32, on []int32, n int) [][2]int32 {
	if n >= len(pairs) {
		return pairs
	}
	var used [2]map[int32]int
	used[0], used[1] = map[int32]int{}, map[int32]int{}
	left := rand.New(rand.NewPCG(0, uint64(len(pairs)))).Perm(len(pairs))
	chosen := make([]int, n)
	for i := range chosen {
		best, fewest := 0, len(pairs)*2
		for at, number := range left {
			pair := pairs[number]
			if times := used[0][on[pair[0]]] + used[1][on[pair[1]]]; times < fewest {
				best, fewest = at, times
			}
		}
		chosen[i] = left[best]
		left = slices.Delete(left, best, best+1)
		for side, end := range pairs[chosen[i]] {
			used[side][on[end]]++
		}
	}
	slices.Sort(chosen)
	out := make([][2]int32, n)
	for i, number := range chosen {
		out[i] = pairs[number]
	}
	return out
}

// pairsOf are the pairs that a pattern of a plan with pairs measures.
func (p *Plan) pairsOf(pt *Pattern) [][2]int32 {
	if p.paired.isolated != nil && !pt.Together {
		return p.paired.isolated
	}
	return p.paired.pairs
}

// PairsOf is how many pairs a pattern measures: 1 for a plan without pairs.
func (p *Plan) PairsOf(pt *Pattern) int {
	if p.paired == nil {
		return 1
	}
	return len(p.pairsOf(pt))
}

// PairsOfPatterns is the sum of the pairs that the patterns measure.
func (p *Plan) PairsOfPatterns() (sum int) {
	for i := range p.patterns {
		sum += p.PairsOf(&p.patterns[i])
	}
	return sum
}
