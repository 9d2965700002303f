package stats

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"strconv"
	"testing"
)

func TestRankingsAreThoseOfTheReference(t *testing.T) {
	moderated := 0
	for _, c := range tables(t).Cases {
		if len(c.Logs[0]) < moderatedRounds {
			continue
		}
		for _, higher := range []bool{true, false} {
			sign := 1.0
			if !higher {
				sign = -1
			}
			groups := inUnits(c.Logs, sign)
			if compareGroups(entriesOf(groups), higher, Looks{}, 0).Moderated {
				moderated++
			}
			ranked := Rank(groups, higher, 0)
			if len(ranked) != len(c.Logs) {
				t.Fatalf("%s: %d of %d groups are ranked", c.Name, len(ranked), len(c.Logs))
			}
			for _, k := range ranked {
				i, err := strconv.Atoi(k.Name)
				if err != nil {
					t.Fatal(err)
				}
				if want := (RankRange{c.Rule.RankLow[i], c.Rule.RankHigh[i]}); k.Ranks != want || k.Letters != c.Rule.Letters[i] || k.Best != slices.Contains(c.Rule.Best, i) {
					t.Errorf("%s, higher is better %v: %s has ranks %v, letters %q, best %v; want %v, %q, best of %v",
						c.Name, higher, k.Name, k.Ranks, k.Letters, k.Best, want, c.Rule.Letters[i], c.Rule.Best)
				}
			}
		}
	}
	if moderated == 0 {
		t.Error("no case is moderated")
	}
}

func TestPatternsThatAreAlikeShareTheFirstRank(t *testing.T) {
	for _, rounds := range []int{3, 6, 12} {
		wrong := share(100, func(seed uint64) bool {
			r := source(seed)
			shared := drift(r, rounds, 0.8, 10)
			var groups []Group
			for i := range 6 {
				groups = append(groups, simulated(r, fmt.Sprint(i), 100, 3, 1, shared))
			}
			return slices.ContainsFunc(Rank(groups, true, 0), func(k Ranked) bool { return k.Rank != 1 })
		})
		if wrong > 0.10 {
			t.Errorf("%d rounds: a difference is shown among six that are alike in %.1f %% of campaigns", rounds, wrong*100)
		}
	}
}

func TestClearDifferencesAreRankedInFewRounds(t *testing.T) {
	right := share(200, func(seed uint64) bool {
		r := source(seed)
		shared := drift(r, 5, 0.9, 30)
		got := Rank([]Group{
			simulated(r, "slow", 200, 2, 1, shared), simulated(r, "fast", 380, 2, 1, shared), simulated(r, "middle", 300, 2, 1, shared),
		}, true, 0)
		return got[0].Name == "fast" && got[1].Name == "middle" && got[2].Name == "slow" && got[1].Rank == 2 && got[2].Rank == 3
	})
	if right < 0.99 {
		t.Errorf("clear order found in %.1f %% of campaigns", right*100)
	}
}

func TestLowerIsBetterTurnsTheOrder(t *testing.T) {
	groups := []Group{{Name: "a", Rounds: [][]float64{{10}, {11}, {10.5}}}, {Name: "b", Rounds: [][]float64{{2}, {2.1}, {2.05}}}}
	got := Rank(groups, false, 0)
	if got[0].Name != "b" || got[0].Rank != 1 || got[1].Rank != 2 {
		t.Fatalf("%+v", got)
	}
	best := measure.NewFinding(finding.RankLowest, "", measure.Figures{"patterns": 2, "rounds": 3})
	if worse := got[1].Reason; !got[0].Reason.Equal(best) || worse.Code != finding.RankAbove || worse.Text("than") != "b" || worse.Figures["rounds"] != 3.0 {
		t.Errorf("reasons %+v, %+v", got[0].Reason, worse)
	}
	// The logarithms of 10/2, 11/2.1 and 10.5/2.05 have the mean 1.632977 and the standard
	// deviation 0.0232650; Student's t of 2 degrees of freedom is 4.302653.
	for figure, want := range map[string]float64{"difference_ratio": 4.11909, "low_ratio": 3.83163, "high_ratio": 4.42366} {
		v, _ := got[1].Reason.Number(figure)
		near(t, figure, v, want, 1e-4)
	}
}

// shownPairs are the names of groups between which a difference is shown, in both orders.
func shownPairs(groups []Group) map[[2]string]bool {
	var logs [][]float64
	for _, g := range groups {
		logs = append(logs, g.means().logs)
	}
	out := map[[2]string]bool{}
	for _, p := range ComparePatterns(logs, 0.05).Pairs {
		a, b := groups[p.A].Name, groups[p.B].Name
		out[[2]string{a, b}], out[[2]string{b, a}] = p.Adjusted <= 0.05, p.Adjusted <= 0.05
	}
	return out
}

func TestRanksAreConsistent(t *testing.T) {
	for seed := range uint64(300) {
		r := source(seed)
		n, rounds := 2+r.IntN(6), 2+r.IntN(9)
		shared := drift(r, rounds, 0.5, 5)
		var list []Group
		for i := range n {
			list = append(list, simulated(r, fmt.Sprint(i), 100+float64(r.IntN(4))*6, 0.5+4*r.Float64(), 1, shared))
		}
		got, shown := Rank(list, true, 0), shownPairs(list)
		for i, k := range got {
			for _, before := range got[:i] {
				if k.Estimate > before.Estimate || k.Rank < before.Rank {
					t.Fatalf("seed %d: order of estimates or ranks is broken: %+v", seed, got)
				}
				if k.Rank == before.Rank && shown[[2]string{k.Name, before.Name}] {
					t.Fatalf("seed %d: %s and %s share a rank though a difference is shown", seed, k.Name, before.Name)
				}
			}
			if i > 0 && k.Rank != got[i-1].Rank && k.Rank != i+1 {
				t.Fatalf("seed %d: rank %d at place %d", seed, k.Rank, i+1)
			}
		}
	}
}

func TestOneRoundShowsTheOrderUntested(t *testing.T) {
	got := Rank([]Group{{Name: "a", Rounds: [][]float64{{5, 6}}}, {Name: "b", Rounds: [][]float64{{7}}}, {Name: "c", Rounds: [][]float64{{5.5}}}}, true, 0)
	if got[0].Name != "b" || got[1].Name != "a" || got[2].Name != "c" {
		t.Fatalf("%+v", got)
	}
	if got[0].Rank != 1 || got[1].Rank != 2 || got[2].Rank != 2 { // equal estimates
		t.Errorf("ranks %d %d %d", got[0].Rank, got[1].Rank, got[2].Rank)
	}
	for _, k := range got {
		if k.Reason.Code != finding.RankOneRound || !math.IsNaN(k.Low) || !math.IsNaN(k.High) {
			t.Errorf("%+v", k)
		}
	}
}

func TestGroupsWithoutValuesComeLast(t *testing.T) {
	got := Rank([]Group{{Name: "none", Rounds: [][]float64{nil, {math.NaN(), math.Inf(1)}}}, {Name: "a", Rounds: [][]float64{{1}, {2}}}}, false, 0)
	if got[1].Name != "none" || got[1].Rank != 0 || got[0].Rank != 1 || got[0].Reason.Code != finding.RankOnlyOne {
		t.Errorf("%+v", got)
	}
	if len(Rank(nil, true, 0)) != 0 {
		t.Error("a ranking of nothing is not empty")
	}
}

func TestIdenticalValuesAreNotADifference(t *testing.T) {
	same := [][]float64{{5}, {5}, {5}}
	got := Rank([]Group{{Name: "a", Rounds: same}, {Name: "b", Rounds: same}}, true, 0)
	if got[1].Rank != 1 {
		t.Errorf("%+v", got)
	}
	got = Rank([]Group{{Name: "a", Rounds: same}, {Name: "b", Rounds: [][]float64{{4}, {4}, {4}}}}, true, 0)
	if got[1].Rank != 2 {
		t.Errorf("a constant difference is not shown: %+v", got)
	}
}

func TestTheOrderOfTheGroupsDoesNotMatter(t *testing.T) {
	r := source(1)
	var groups []Group
	for i := range 4 {
		groups = append(groups, simulated(r, fmt.Sprint(i), 100+float64(i), 3, 2, make([]float64, 12)))
	}
	first := Rank(groups, true, 0)
	slices.Reverse(groups)
	if again := Rank(groups, true, 0); !reflect.DeepEqual(first, again) {
		t.Errorf("%+v\n%+v", first, again)
	}
}

func FuzzRank(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint8(4))
	f.Fuzz(func(t *testing.T, seed uint64, n, rounds uint8) {
		r := source(seed)
		odd := []float64{0, math.NaN(), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 1e-300}
		var groups []Group
		for i := range int(n % 8) {
			g := Group{Name: fmt.Sprint(i)}
			for range rounds % 16 {
				var round []float64
				for range r.IntN(3) {
					round = append(round, r.Float64())
					if r.IntN(4) == 0 {
						round = append(round, odd[r.IntN(len(odd))])
					}
				}
				g.Rounds = append(g.Rounds, round)
				if seed%3 > 0 {
					g.Sessions = append(g.Sessions, [][]int{{1}, {2}, {2, 1}, {}, {3, 2}}[r.IntN(5)])
				}
			}
			groups = append(groups, g)
		}
		got := Rank(groups, seed%2 == 0, 0)
		if len(got) != len(groups) {
			t.Fatalf("%d of %d groups are ranked", len(got), len(groups))
		}
	})
}

func BenchmarkRank(b *testing.B) {
	for name, step := range map[string]float64{"alike": 0, "graded": 0.002} {
		effects := make([]float64, 200)
		for i := range effects {
			effects[i] = step * float64(i)
		}
		groups := inUnits(table(6, effects, 20, 0.02), 1)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Rank(groups, true, 0)
			}
		})
	}
}
