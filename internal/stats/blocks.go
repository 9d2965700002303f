package stats

import (
	"math"
	"slices"
)

// blocks is the table that [ComparePatterns] compares: logarithms of the groups' round
// means, negated where less is better. A column has what one session measured of one
// round, because only that was interleaved. Of a round with values of several sessions,
// such as one in which a campaign was interrupted, the session that measured most groups
// makes the first column, the one that measured most of the others the next. A group with
// a value that is not positive has none in the table.
func blocks(entries []entry, higherIsBetter bool) [][]float64 {
	rows := make([][]float64, len(entries))
	rounds := 0
	for _, e := range entries {
		rounds = max(rounds, len(e.logs))
	}
	for round := range rounds {
		left := measuredIn(entries, round)
		for len(left) > 0 {
			session := mostFrequent(entries, left, round)
			in := func(i int) bool { return slices.Contains(entries[i].group.sessions(round), session) }
			for i := range rows {
				rows[i] = append(rows[i], math.NaN())
			}
			for _, i := range left {
				if v := entries[i].logs[round]; in(i) && higherIsBetter {
					rows[i][len(rows[i])-1] = v
				} else if in(i) {
					rows[i][len(rows[i])-1] = -v
				}
			}
			left = slices.DeleteFunc(left, in)
		}
	}
	return rows
}

// measuredIn returns the groups with a value in a round of which the session is known.
func measuredIn(entries []entry, round int) (out []int) {
	for i, e := range entries {
		if round < len(e.logs) && !math.IsNaN(e.logs[round]) && len(e.group.sessions(round)) > 0 {
			out = append(out, i)
		}
	}
	return out
}

// mostFrequent returns the session that measured most of some groups in a round, the first
// of several.
func mostFrequent(entries []entry, groups []int, round int) int {
	counts := map[int]int{}
	best := entries[groups[0]].group.sessions(round)[0]
	for _, i := range groups {
		for _, s := range entries[i].group.sessions(round) {
			counts[s]++
		}
	}
	for s, n := range counts {
		if n > counts[best] || n == counts[best] && s < best {
			best = s
		}
	}
	return best
}
