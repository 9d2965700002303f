package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"soku/internal/measure"
	"testing"
)

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 77)) }

// drift is noise that remembers: each round keeps rho of the one before.
func drift(r *rand.Rand, rounds int, rho, size float64) []float64 {
	out := make([]float64, rounds)
	level := r.NormFloat64() * size
	for i := range out {
		out[i] = level
		level = rho*level + math.Sqrt(1-rho*rho)*size*r.NormFloat64()
	}
	return out
}

// simulated makes a group whose rounds share a drift and have noise of their own.
func simulated(r *rand.Rand, name string, mean, noise float64, repeats int, shared []float64) Group {
	g := Group{Name: name}
	for _, d := range shared {
		own := noise * r.NormFloat64()
		var round []float64
		for range repeats {
			round = append(round, mean+d+own+noise*r.NormFloat64())
		}
		g.Rounds = append(g.Rounds, round)
	}
	return g
}

func share(n int, event func(seed uint64) bool) float64 {
	hits := 0
	for seed := range uint64(n) {
		if event(seed) {
			hits++
		}
	}
	return float64(hits) / float64(n)
}

func TestIntervalsCoverTheTruth(t *testing.T) {
	for _, c := range []struct {
		rounds, repeats int
		low             float64
	}{{2, 1, 0.91}, {3, 2, 0.91}, {5, 1, 0.91}, {7, 3, 0.91}, {8, 1, 0.91}, {8, 3, 0.91}, {12, 2, 0.91}, {30, 1, 0.91}} {
		got := share(200, func(seed uint64) bool {
			r := source(seed)
			e := Estimate(simulated(r, "a", 100, 5, c.repeats, make([]float64, c.rounds)), int64(seed))
			return e.Low <= 100 && 100 <= e.High
		})
		if got < c.low || got > 0.995 {
			t.Errorf("%d rounds of %d: interval holds the truth in %.1f %% of campaigns", c.rounds, c.repeats, got*100)
		}
	}
}

func TestIntervalsAllowForRoundsThatAreAlike(t *testing.T) {
	// Taken as independent, such rounds would hold it in about 75 %.
	for rounds, least := range map[int]float64{10: 0.83, 20: 0.86, 40: 0.88} {
		got := share(150, func(seed uint64) bool {
			r := source(seed)
			e := Estimate(simulated(r, "a", 100, 1, 2, drift(r, rounds, 0.5, 5)), int64(seed))
			return e.Low <= 100 && 100 <= e.High
		})
		if got < least {
			t.Errorf("%d rounds: interval holds the truth in %.1f %% of campaigns", rounds, got*100)
		}
	}
}

func TestPairedComparisonsCoverTheDifferenceUnderSharedDrift(t *testing.T) {
	for _, rounds := range []int{2, 3, 5, 8, 15} {
		wide := 0.0
		got := share(1000, func(seed uint64) bool {
			r := source(seed)
			shared := drift(r, rounds, 0.9, 40)
			c := Compare(simulated(r, "a", 103, 2, 2, shared), simulated(r, "b", 100, 2, 2, shared), 0.95)
			wide += (c.High - c.Low) / 1000
			return c.Low <= 3 && 3 <= c.High
		})
		if got < 0.93 || got > 0.985 {
			t.Errorf("%d rounds: %.1f %% of the intervals hold the true difference", rounds, got*100)
		}
		if rounds >= 5 && wide > 40 {
			t.Errorf("%d rounds: intervals are %.0f wide on average; the shared drift was not taken out", rounds, wide)
		}
	}
}

func TestComparisonsHoldForSkewedNoise(t *testing.T) {
	for _, rounds := range []int{4, 10} {
		got := share(1000, func(seed uint64) bool {
			r := source(seed)
			skewed := func() Group {
				g := Group{}
				for range rounds {
					g.Rounds = append(g.Rounds, []float64{math.Exp(r.NormFloat64())})
				}
				return g
			}
			return !Compare(skewed(), skewed(), 0.95).Shown()
		})
		if got < 0.93 {
			t.Errorf("%d rounds: a difference that is not there is shown in %.1f %%", rounds, (1-got)*100)
		}
	}
}

func TestPatternsThatAreAlikeShareTheFirstRank(t *testing.T) {
	for _, rounds := range []int{2, 3, 6, 12} {
		wrong := share(100, func(seed uint64) bool {
			r := source(seed)
			shared := drift(r, rounds, 0.8, 10)
			var groups []Group
			for i := range 6 {
				groups = append(groups, simulated(r, fmt.Sprint(i), 100, 3, 1, shared))
			}
			return slices.ContainsFunc(Rank(groups, true, int64(seed)), func(k Ranked) bool { return k.Rank != 1 })
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
		}, true, 1)
		return got[0].Name == "fast" && got[1].Name == "middle" && got[2].Name == "slow" && got[1].Rank == 2 && got[2].Rank == 3
	})
	if right < 0.99 {
		t.Errorf("clear order found in %.1f %% of campaigns", right*100)
	}
}

func TestLowerIsBetterTurnsTheOrder(t *testing.T) {
	groups := []Group{{"a", [][]float64{{10}, {11}, {10.5}}}, {"b", [][]float64{{2}, {2.1}, {2.05}}}}
	got := Rank(groups, false, 1)
	if got[0].Name != "b" || got[0].Rank != 1 || got[1].Rank != 2 {
		t.Fatalf("%+v", got)
	}
	best := measure.NewFinding(measure.CodeRankLowest, "", measure.Figures{"patterns": 2, "rounds": 3})
	if worse := got[1].Reason; !got[0].Reason.Equal(best) || worse.Code != measure.CodeRankAbove || worse.Text("than") != "b" || worse.Figures["rounds"] != 3.0 {
		t.Errorf("reasons %+v, %+v", got[0].Reason, worse)
	}
	for figure, want := range map[string]float64{"difference_ratio": 4.12195, "low_ratio": 3.57665, "high_ratio": 4.66725} {
		v, _ := got[1].Reason.Number(figure)
		near(t, figure, v, want, 1e-4)
	}
}

func TestRanksAreConsistent(t *testing.T) {
	for seed := range uint64(300) {
		r := source(seed)
		n, rounds := 2+r.IntN(6), 2+r.IntN(9)
		shared := drift(r, rounds, 0.5, 5)
		groups := map[string]Group{}
		var list []Group
		for i := range n {
			g := simulated(r, fmt.Sprint(i), 100+float64(r.IntN(4))*6, 0.5+4*r.Float64(), 1, shared)
			groups[g.Name] = g
			list = append(list, g)
		}
		level := 1 - 0.05/float64(n*(n-1)/2)
		got := Rank(list, true, 1)
		for i, k := range got {
			for _, before := range got[:i] {
				if k.Estimate > before.Estimate || k.Rank < before.Rank {
					t.Fatalf("seed %d: order of estimates or ranks is broken: %+v", seed, got)
				}
				if k.Rank == before.Rank && Compare(groups[k.Name], groups[before.Name], level).Shown() {
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
	got := Rank([]Group{{"a", [][]float64{{5, 6}}}, {"b", [][]float64{{7}}}, {"c", [][]float64{{5.5}}}}, true, 1)
	if got[0].Name != "b" || got[1].Name != "a" || got[2].Name != "c" {
		t.Fatalf("%+v", got)
	}
	if got[0].Rank != 1 || got[1].Rank != 2 || got[2].Rank != 2 { // equal estimates
		t.Errorf("ranks %d %d %d", got[0].Rank, got[1].Rank, got[2].Rank)
	}
	for _, k := range got {
		if k.Reason.Code != measure.CodeRankOneRound || !math.IsNaN(k.Low) || !math.IsNaN(k.High) {
			t.Errorf("%+v", k)
		}
	}
}

func TestNoDifferenceReportsTheRoundsNeeded(t *testing.T) {
	got := Rank([]Group{{"a", [][]float64{{100}, {104}, {97}}}, {"b", [][]float64{{99}, {98}, {101}}}}, true, 1)
	needed, _ := got[1].Reason.Number("needed_rounds")
	if got[1].Rank != 1 || got[1].Reason.Code != measure.CodeRankNoDifference || got[1].Reason.Text("than") != "a" || needed <= 3 {
		t.Errorf("%+v", got)
	}
}

func TestMissingRoundsArePairedByTheirNumber(t *testing.T) {
	// Both follow a strong drift; unpaired or shifted pairs would hide the difference.
	a := Group{"a", [][]float64{{110}, {}, {211}, {310}, {412}}}
	b := Group{"b", [][]float64{{100}, {150}, {201}, {300}, {402}}}
	c := Compare(a, b, 0.95)
	if c.Rounds != 4 || !c.Shown() || math.Abs(c.Difference-10) > 1e-9 {
		t.Errorf("%+v", c)
	}
}

func TestGroupsWithoutSharedRoundsAreComparedUnpaired(t *testing.T) {
	a := Group{"a", [][]float64{{10}, {11}, {}, {}, {10.4}}}
	b := Group{"b", [][]float64{nil, nil, {20}, {21.5}, nil}}
	c := Compare(a, b, 0.95)
	if c.Rounds != 0 || !c.Shown() {
		t.Errorf("%+v", c)
	}
	// By hand: standard error 0.80430, df 1.30804, t 7.42310.
	near(t, "low", c.Low, -16.25395, 1e-4)
	near(t, "high", c.High, -4.31272, 1e-4)
	one := Compare(a, Group{"c", [][]float64{nil, nil, {20}}}, 0.95)
	if one.Tested() || one.Shown() {
		t.Errorf("one value was tested: %+v", one)
	}
}

func TestGroupsWithoutValuesComeLast(t *testing.T) {
	got := Rank([]Group{{"none", [][]float64{nil, {math.NaN(), math.Inf(1)}}}, {"a", [][]float64{{1}, {2}}}}, false, 1)
	if got[1].Name != "none" || got[1].Rank != 0 || got[0].Rank != 1 || got[0].Reason.Code != measure.CodeRankOnlyOne {
		t.Errorf("%+v", got)
	}
	if len(Rank(nil, true, 1)) != 0 {
		t.Error("a ranking of nothing is not empty")
	}
}

func TestIdenticalValuesAreNotADifference(t *testing.T) {
	same := [][]float64{{5}, {5}, {5}}
	got := Rank([]Group{{"a", same}, {"b", same}}, true, 1)
	if got[1].Rank != 1 {
		t.Errorf("%+v", got)
	}
	got = Rank([]Group{{"a", same}, {"b", [][]float64{{4}, {4}, {4}}}}, true, 1)
	if got[1].Rank != 2 {
		t.Errorf("a constant difference is not shown: %+v", got)
	}
}

func TestTheSeedFixesTheResult(t *testing.T) {
	r := source(1)
	var groups []Group
	for i := range 4 {
		groups = append(groups, simulated(r, fmt.Sprint(i), 100+float64(i), 3, 2, make([]float64, 12)))
	}
	first := Rank(groups, true, 42)
	slices.Reverse(groups) // neither does the order of the groups matter
	if again := Rank(groups, true, 42); !reflect.DeepEqual(first, again) {
		t.Errorf("%+v\n%+v", first, again)
	}
	if other := Rank(groups, true, 43); other[0].Low == first[0].Low {
		t.Error("another seed gives the same resamples")
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
			}
			groups = append(groups, g)
		}
		got := Rank(groups, seed%2 == 0, int64(seed))
		if len(got) != len(groups) {
			t.Fatalf("%d of %d groups are ranked", len(got), len(groups))
		}
	})
}
