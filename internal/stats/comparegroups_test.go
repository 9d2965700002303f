package stats

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// wantPair fails the test if a pair is not compared as Compare does it.
func wantPair(t *testing.T, c groupComparisons, groups []Group, i, j int) {
	t.Helper()
	got, want := c.pair(i, j), Compare(groups[i], groups[j], 1-0.05/float64(c.tested))
	near(t, fmt.Sprint("difference of ", i, j), got.Difference, want.Difference, 1e-12)
	near(t, fmt.Sprint("low of ", i, j), got.Low, want.Low, 1e-9)
	near(t, fmt.Sprint("high of ", i, j), got.High, want.High, 1e-9)
	if got.Ratio != want.Ratio || got.Rounds != want.Rounds || got.Apart != want.Apart || got.Needed != want.Needed {
		t.Errorf("%d and %d: %+v, want %+v", i, j, got, want)
	}
}

func TestPairsMeasuredApartKeepTheirTest(t *testing.T) {
	logs := table(11, []float64{0, -0.001, -0.002, -0.003, -0.004, -0.005, -0.006}, 8, 0.05)
	groups := inUnits(logs, 1)
	for i := range groups {
		groups[i] = groups[i].inSession(1 + i/4) // 0 to 3 in the first, 4 to 6 in the second
	}
	got := compareGroups(entriesOf(groups), true, Looks{}, 0)
	if !got.Moderated || got.tested != 21 {
		t.Fatalf("moderated %v, %d pairs tested", got.Moderated, got.tested)
	}
	for i := range groups {
		for j := range i {
			if apart := i/4 != j/4; apart {
				wantPair(t, got, groups, i, j)
			} else if p := got.pair(i, j); p.Apart || p.Rounds != 8 {
				t.Errorf("%d and %d: %+v", i, j, p)
			}
			if got.pair(i, j).Apart != (i/4 != j/4) {
				t.Errorf("%d and %d: apart %v", i, j, got.pair(i, j).Apart)
			}
		}
	}
}

func TestVariancesOfFewPatternsMeasuredTogetherAreTheirOwn(t *testing.T) {
	groups := inUnits(table(14, []float64{0, -0.001, -0.002, -0.003, -0.004, -0.005}, 8, 0.05), 1)
	for i := range groups {
		groups[i] = groups[i].inSession(1 + i/3)
	}
	got := compareGroups(entriesOf(groups), true, Looks{}, 0)
	if got.Moderated {
		t.Error("moderated")
	}
	for i := range groups {
		for j := range i {
			wantPair(t, got, groups, i, j)
		}
	}
}

func TestAGroupWithAZeroKeepsItsTestsAndChangesNoOthers(t *testing.T) {
	logs := table(12, []float64{0, -0.001, -0.002, -0.003, -0.004}, 8, 0.05)
	groups := inUnits(logs, 1)
	groups[2].Rounds[5] = []float64{0}
	got := compareGroups(entriesOf(groups), true, Looks{}, 0)
	others := ComparePatterns(slices.Delete(slices.Clone(logs), 2, 3), 0.05)
	for n, p := range others.Pairs {
		for _, i := range []*int{&p.A, &p.B} {
			if *i >= 2 {
				*i++
			}
		}
		mine := got.Pairs[pairIndex(5, p.A, p.B)]
		near(t, fmt.Sprint("p of ", n), mine.P, p.P, 1e-9)
		near(t, fmt.Sprint("SE of ", n), mine.SE, p.SE, 1e-9)
	}
	for _, other := range []int{3, 4} {
		wantPair(t, got, groups, other, 2)
	}
	wantPair(t, got, groups, 2, 0)
	wantPair(t, got, groups, 2, 1)
	if got.pair(2, 0).Ratio || got.pair(2, 0).Rounds != 8 {
		t.Errorf("%+v", got.pair(2, 0))
	}
}

func TestARoundOfTwoSessionsIsTwoBlocks(t *testing.T) {
	logs := table(13, []float64{0, 0, 0, 0, 0}, 6, 0.01)
	sessions := make([][][]int, len(logs))
	for i := range logs {
		for round := range logs[i] {
			session := 1
			if round > 2 || round == 2 && (i == 2 || i == 3) { // interrupted in the third round
				session = 2
			}
			if session == 2 {
				logs[i][round] += 1 // what changed in between
			}
			sessions[i] = append(sessions[i], []int{session})
		}
	}
	sessions[4][2] = []int{2, 1} // repeats in both
	groups := inUnits(logs, 1)
	for i := range groups {
		groups[i].Sessions = sessions[i]
	}
	got := compareGroups(entriesOf(groups), true, Looks{}, 0)
	for i := range groups {
		for j := range i {
			rounds, second := 6, func(i int) bool { return i == 2 || i == 3 }
			if second(i) != second(j) {
				rounds = 5
			}
			if p := got.pair(i, j); p.Rounds != rounds || math.Abs(p.Difference) > 0.05 {
				t.Errorf("%d and %d: %+v", i, j, p)
			}
		}
	}
	groups[3].Sessions[4] = nil // unknown: interleaved with nothing
	if p := compareGroups(entriesOf(groups), true, Looks{}, 0).pair(3, 2); p.Rounds != 5 {
		t.Errorf("a round of no session is paired: %+v", p)
	}
}

func TestAFewMoreRoundsCountOnTheVariancesOfAllPairs(t *testing.T) {
	alpha := 0.05 / 45
	own := contrast{estimate: estimate{mean: 0.02, err: 0.012, df: 4, n: 5}}
	all := own
	all.df = 60
	for _, d := range []contrast{own, all} {
		n, more := d.needed(alpha), d.df-4
		half := func(n int) float64 {
			return studentT(alpha, float64(n-1)+more) * d.err * math.Sqrt(5/float64(n))
		}
		if !(half(n) < d.mean) || half(n-1) < d.mean {
			t.Errorf("%g degrees of freedom: %d rounds, half widths %g and %g before", d.df, n, half(n), half(n-1))
		}
	}
	if all.needed(alpha) >= own.needed(alpha) {
		t.Errorf("%d rounds are needed, by the pair's own variance %d", all.needed(alpha), own.needed(alpha))
	}
}

func TestRankingsSayWhatWasNotTested(t *testing.T) {
	one := Rank([]Group{{Name: "a", Rounds: [][]float64{{1}}}, {Name: "b", Rounds: [][]float64{{2}}}}, true, 0)
	for _, k := range one {
		if k.Ranks != (RankRange{}) || k.Best || k.Letters != "" {
			t.Errorf("one round: %+v", k)
		}
	}
	// Both have rounds, and none that can be compared.
	apart := Rank([]Group{{Name: "a", Rounds: [][]float64{{1}, nil, {1}, {1}}}, {Name: "b", Rounds: [][]float64{nil, {2}, nil, nil}}, {Name: "c"}}, true, 0)
	for _, k := range apart[:2] {
		if k.Ranks != (RankRange{1, 2}) || !k.Best || k.Letters != "a" {
			t.Errorf("not comparable: %+v", k)
		}
	}
	if k := apart[2]; k.Ranks != (RankRange{}) || k.Best || k.Letters != "" {
		t.Errorf("without values: %+v", k)
	}
}
