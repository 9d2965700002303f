package stats

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
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

// exponentials makes factors of additive noise in percent.
func exponentials(g Group) Group {
	for _, round := range g.Rounds {
		for i, v := range round {
			round[i] = math.Exp(v / 100)
		}
	}
	return g
}

func TestPairedComparisonsCoverTheDifferenceUnderSharedDrift(t *testing.T) {
	for _, rounds := range []int{2, 3, 5, 8, 15} {
		wide := 0.0
		got := share(1000, func(seed uint64) bool {
			r := source(seed)
			shared := drift(r, rounds, 0.9, 40)
			c := Compare(exponentials(simulated(r, "a", 3, 2, 2, shared)), exponentials(simulated(r, "b", 0, 2, 2, shared)), 0.95)
			wide += (c.High - c.Low) / 1000
			return c.Low <= math.Expm1(0.03) && math.Expm1(0.03) <= c.High
		})
		if got < 0.93 || got > 0.985 {
			t.Errorf("%d rounds: %.1f %% of the intervals hold the true difference", rounds, got*100)
		}
		if rounds >= 5 && wide > 0.4 {
			t.Errorf("%d rounds: intervals are %.2f wide on average; the shared drift was not taken out", rounds, wide)
		}
	}
}

// testdata/paired.json has intervals of t.test in R 4.2.2.
func TestPairedIntervalsAreThoseOfR(t *testing.T) {
	text, err := os.ReadFile("testdata/paired.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Name      string
			LogRatios []float64 `json:"log_ratios"`
			Low       float64   `json:"t_low"`
			High      float64   `json:"t_high"`
		}
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Cases) == 0 {
		t.Fatal(err, len(file.Cases))
	}
	for _, c := range file.Cases {
		var a, b Group
		for i, l := range c.LogRatios {
			level := 50 + 7*float64(i%5) // what both share cancels out
			a.Rounds, b.Rounds = append(a.Rounds, []float64{level * math.Exp(l)}), append(b.Rounds, []float64{level})
		}
		got := Compare(a, b, 0.95)
		if !got.Ratio || got.Rounds != len(c.LogRatios) {
			t.Errorf("%s: %+v", c.Name, got)
		}
		near(t, c.Name+": low", math.Log1p(got.Low), c.Low, 1e-8)
		near(t, c.Name+": high", math.Log1p(got.High), c.High, 1e-8)
	}
}

// testdata/holm.json has probabilities of t.test and p.adjust in R 4.2.2.
func TestAllPairsAreTestedAsInR(t *testing.T) {
	text, err := os.ReadFile("testdata/holm.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Name    string
			Logs    [][]float64
			P, Holm []float64
		}
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Cases) == 0 {
		t.Fatal(err, len(file.Cases))
	}
	more := 0 // pairs that Bonferroni's correction does not show
	for _, c := range file.Cases {
		var entries []entry
		for _, row := range c.Logs {
			g := Group{}
			for _, l := range row {
				g.Rounds = append(g.Rounds, []float64{math.Exp(l)})
			}
			entries = append(entries, entry{group: g})
		}
		pairs, k := compareAll(entries), 0
		for j := range entries {
			for i := j + 1; i < len(entries); i++ {
				near(t, fmt.Sprintf("%s: p of %d and %d", c.Name, j, i), pairs.contrast(i, j).p(), c.P[k], 1e-7)
				if got, want := pairs.direction(i, j) != 0, c.Holm[k] <= 0.05; got != want {
					t.Errorf("%s: %d and %d, adjusted p %g: shown %v", c.Name, j, i, c.Holm[k], got)
				}
				if c.Holm[k] <= 0.05 && c.P[k]*float64(len(c.P)) > 0.05 {
					more++
					if p := pairs.pair(i, j); p.Low != 0 && p.High != 0 {
						t.Errorf("%s: the interval of %d and %d is %g to %g", c.Name, j, i, p.Low, p.High)
					}
				}
				k++
			}
		}
	}
	if more == 0 {
		t.Error("no case distinguishes Holm's procedure from Bonferroni's correction")
	}
}

func TestNoBoundOfARatioIsBelowMinusAllOfIt(t *testing.T) {
	for name, groups := range map[string][2]Group{
		"two rounds":      {{Rounds: [][]float64{{100}, {300}}}, {Rounds: [][]float64{{250}, {90}}}},
		"not paired":      {{Rounds: [][]float64{{100}, {900}, nil, nil}}, {Rounds: [][]float64{nil, nil, {850}, {90}}}},
		"a round of zero": {{Rounds: [][]float64{{0}, {300}, {10}}}, {Rounds: [][]float64{{250}, {90}, {400}}}},
	} {
		groups[0].Name, groups[1].Name = "a", "b"
		reason := Rank(groups[:], true, 1)[1].Reason
		low, has := reason.Number("low_ratio")
		if !has || low < -1 {
			t.Errorf("%s: the lower bound is %v", name, low)
		}
	}
}

func TestOnlyRoundsOfOneSessionArePaired(t *testing.T) {
	rounds := func(values ...float64) (out [][]float64) {
		for _, v := range values {
			out = append(out, []float64{v})
		}
		return out
	}
	on := Group{Name: "on", Rounds: rounds(110, 111, 112), Sessions: [][]int{{1}, {1}, {1}}}
	off := Group{Name: "off", Rounds: rounds(100, 101, 102), Sessions: [][]int{{2}, {2}, {2}}}
	if c := Compare(on, off, 0.95); c.Rounds != 0 || !c.Apart || !c.Shown() {
		t.Errorf("measured in different sessions: %+v", c)
	}
	if got := Rank([]Group{on, off}, true, 1)[1].Reason.Code; got != measure.CodeRankBelowOtherRun {
		t.Errorf("the reason is %s", got)
	}
	if got := Rank([]Group{on, off}, false, 1)[1].Reason.Code; got != measure.CodeRankAboveOtherRun {
		t.Errorf("the reason is %s", got)
	}
	// A run that was interrupted in round 2: its rounds 1 and 3 are interleaved.
	interrupted := Group{Name: "off", Rounds: rounds(100, 101, 102), Sessions: [][]int{{1}, {2}, {2}}}
	on.Sessions = [][]int{{1}, {1}, {2}}
	if c := Compare(on, interrupted, 0.95); c.Rounds != 2 || c.Apart {
		t.Errorf("interrupted: %+v", c)
	}
	// Repeats of one round in two sessions, such as one that was repeated.
	interrupted.Sessions[1] = []int{2, 1}
	if c := Compare(on, interrupted, 0.95); c.Rounds != 3 || c.Apart {
		t.Errorf("repeated: %+v", c)
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
	groups := []Group{{Name: "a", Rounds: [][]float64{{10}, {11}, {10.5}}}, {Name: "b", Rounds: [][]float64{{2}, {2.1}, {2.05}}}}
	got := Rank(groups, false, 1)
	if got[0].Name != "b" || got[0].Rank != 1 || got[1].Rank != 2 {
		t.Fatalf("%+v", got)
	}
	best := measure.NewFinding(measure.CodeRankLowest, "", measure.Figures{"patterns": 2, "rounds": 3})
	if worse := got[1].Reason; !got[0].Reason.Equal(best) || worse.Code != measure.CodeRankAbove || worse.Text("than") != "b" || worse.Figures["rounds"] != 3.0 {
		t.Errorf("reasons %+v, %+v", got[0].Reason, worse)
	}
	for figure, want := range map[string]float64{"difference_ratio": 4.11909, "low_ratio": 3.83163, "high_ratio": 4.42366} {
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
	got := Rank([]Group{{Name: "a", Rounds: [][]float64{{5, 6}}}, {Name: "b", Rounds: [][]float64{{7}}}, {Name: "c", Rounds: [][]float64{{5.5}}}}, true, 1)
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
	got := Rank([]Group{{Name: "a", Rounds: [][]float64{{100}, {104}, {97}}}, {Name: "b", Rounds: [][]float64{{99}, {98}, {101}}}}, true, 1)
	needed, _ := got[1].Reason.Number("needed_rounds")
	if got[1].Rank != 1 || got[1].Reason.Code != measure.CodeRankNoDifference || got[1].Reason.Text("than") != "a" || needed <= 3 {
		t.Errorf("%+v", got)
	}
}

func TestMissingRoundsArePairedByTheirNumber(t *testing.T) {
	// Both follow a strong drift; unpaired or shifted pairs would hide the difference.
	a := Group{Name: "a", Rounds: [][]float64{{110}, {}, {220}, {330}, {440}}}
	b := Group{Name: "b", Rounds: [][]float64{{100}, {150}, {200}, {300}, {400}}}
	c := Compare(a, b, 0.95)
	if c.Rounds != 4 || !c.Shown() || math.Abs(c.Difference-0.1) > 1e-9 {
		t.Errorf("%+v", c)
	}
}

func TestGroupsWithoutSharedRoundsAreComparedUnpaired(t *testing.T) {
	a := Group{Name: "a", Rounds: [][]float64{{10}, {11}, {}, {}, {10.4}}}
	b := Group{Name: "b", Rounds: [][]float64{nil, nil, {20}, {21.5}, nil}}
	c := Compare(a, b, 0.95)
	if c.Rounds != 0 || !c.Shown() {
		t.Errorf("%+v", c)
	}
	// By hand, of the logarithms: standard error 0.0455245, df 2.145134, t 4.035381.
	near(t, "low", c.Low, -0.580282, 1e-6)
	near(t, "high", c.High, -0.393927, 1e-6)
	one := Compare(a, Group{Name: "c", Rounds: [][]float64{nil, nil, {20}}}, 0.95)
	if one.Tested() || one.Shown() {
		t.Errorf("one value was tested: %+v", one)
	}
}

func TestGroupsWithoutValuesComeLast(t *testing.T) {
	got := Rank([]Group{{Name: "none", Rounds: [][]float64{nil, {math.NaN(), math.Inf(1)}}}, {Name: "a", Rounds: [][]float64{{1}, {2}}}}, false, 1)
	if got[1].Name != "none" || got[1].Rank != 0 || got[0].Rank != 1 || got[0].Reason.Code != measure.CodeRankOnlyOne {
		t.Errorf("%+v", got)
	}
	if len(Rank(nil, true, 1)) != 0 {
		t.Error("a ranking of nothing is not empty")
	}
}

func TestIdenticalValuesAreNotADifference(t *testing.T) {
	same := [][]float64{{5}, {5}, {5}}
	got := Rank([]Group{{Name: "a", Rounds: same}, {Name: "b", Rounds: same}}, true, 1)
	if got[1].Rank != 1 {
		t.Errorf("%+v", got)
	}
	got = Rank([]Group{{Name: "a", Rounds: same}, {Name: "b", Rounds: [][]float64{{4}, {4}, {4}}}}, true, 1)
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
