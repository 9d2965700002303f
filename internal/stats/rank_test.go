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
	"strconv"
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
			e := Rank([]Group{simulated(r, "a", 100, 5, c.repeats, make([]float64, c.rounds))}, true)[0]
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
			e := Rank([]Group{simulated(r, "a", 100, 1, 2, drift(r, rounds, 0.5, 5))}, true)[0]
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

// inUnits makes groups of rows of logarithms, in the first session.
func inUnits(logs [][]float64, sign float64) (groups []Group) {
	for i, row := range logs {
		g := Group{Name: fmt.Sprint(i)}
		for _, l := range row {
			var round []float64
			if !math.IsNaN(l) {
				round = []float64{math.Exp(sign * l)}
			}
			g.Rounds = append(g.Rounds, round)
		}
		groups = append(groups, g)
	}
	return groups
}

func entriesOf(groups []Group) (out []entry) {
	for _, g := range groups {
		out = append(out, entry{roundMeans: g.means()})
	}
	return out
}

func TestRankingsAreThoseOfTheReference(t *testing.T) {
	moderated := 0
	for _, c := range tables(t).Cases {
		for _, higher := range []bool{true, false} {
			sign := 1.0
			if !higher {
				sign = -1
			}
			groups := inUnits(c.Logs, sign)
			if compareGroups(entriesOf(groups), higher).Moderated {
				moderated++
			}
			ranked := Rank(groups, higher)
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

func TestIntervalsOfReasonsHoldTogether(t *testing.T) {
	more := 0 // pairs that Bonferroni's correction does not show
	for _, c := range tables(t).Cases {
		for _, higher := range []bool{true, false} {
			pairs := compareGroups(entriesOf(inUnits(c.Logs, 1)), higher)
			for n, p := range c.Rule.Pairs {
				got, low, high := pairs.pair(p[1], p[0]), -c.Rule.High[n], -c.Rule.Low[n]
				switch shown := c.Rule.Holm[n] <= 0.05; {
				case shown && low < 0 && high > 0: // Holm's procedure only
					more++
					if c.Rule.Difference[n] > 0 {
						high = 0
					} else {
						low = 0
					}
				case !shown && (low > 0 || high < 0):
					t.Fatalf("%s: Holm's procedure shows less than Bonferroni's correction", c.Name)
				}
				what := fmt.Sprintf("%s, %d and %d: ", c.Name, p[1], p[0])
				near(t, what+"difference", math.Log1p(got.Difference), -c.Rule.Difference[n], 1e-9)
				near(t, what+"low", math.Log1p(got.Low), low, 1e-7)
				near(t, what+"high", math.Log1p(got.High), high, 1e-7)
				if !got.Ratio || got.Apart || got.Rounds != len(c.Logs[0]) {
					t.Errorf("%s%+v", what, got)
				}
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
		reason := Rank(groups[:], true)[1].Reason
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
	if got := Rank([]Group{on, off}, true)[1].Reason.Code; got != measure.CodeRankBelowOtherRun {
		t.Errorf("the reason is %s", got)
	}
	if got := Rank([]Group{on, off}, false)[1].Reason.Code; got != measure.CodeRankAboveOtherRun {
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
			return slices.ContainsFunc(Rank(groups, true), func(k Ranked) bool { return k.Rank != 1 })
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
		}, true)
		return got[0].Name == "fast" && got[1].Name == "middle" && got[2].Name == "slow" && got[1].Rank == 2 && got[2].Rank == 3
	})
	if right < 0.99 {
		t.Errorf("clear order found in %.1f %% of campaigns", right*100)
	}
}

func TestLowerIsBetterTurnsTheOrder(t *testing.T) {
	groups := []Group{{Name: "a", Rounds: [][]float64{{10}, {11}, {10.5}}}, {Name: "b", Rounds: [][]float64{{2}, {2.1}, {2.05}}}}
	got := Rank(groups, false)
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
		got, shown := Rank(list, true), shownPairs(list)
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
	got := Rank([]Group{{Name: "a", Rounds: [][]float64{{5, 6}}}, {Name: "b", Rounds: [][]float64{{7}}}, {Name: "c", Rounds: [][]float64{{5.5}}}}, true)
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
	got := Rank([]Group{{Name: "a", Rounds: [][]float64{{100}, {104}, {97}}}, {Name: "b", Rounds: [][]float64{{99}, {98}, {101}}}}, true)
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
	got := Rank([]Group{{Name: "none", Rounds: [][]float64{nil, {math.NaN(), math.Inf(1)}}}, {Name: "a", Rounds: [][]float64{{1}, {2}}}}, false)
	if got[1].Name != "none" || got[1].Rank != 0 || got[0].Rank != 1 || got[0].Reason.Code != measure.CodeRankOnlyOne {
		t.Errorf("%+v", got)
	}
	if len(Rank(nil, true)) != 0 {
		t.Error("a ranking of nothing is not empty")
	}
}

func TestIdenticalValuesAreNotADifference(t *testing.T) {
	same := [][]float64{{5}, {5}, {5}}
	got := Rank([]Group{{Name: "a", Rounds: same}, {Name: "b", Rounds: same}}, true)
	if got[1].Rank != 1 {
		t.Errorf("%+v", got)
	}
	got = Rank([]Group{{Name: "a", Rounds: same}, {Name: "b", Rounds: [][]float64{{4}, {4}, {4}}}}, true)
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
	first := Rank(groups, true)
	slices.Reverse(groups)
	if again := Rank(groups, true); !reflect.DeepEqual(first, again) {
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
		got := Rank(groups, seed%2 == 0)
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
				Rank(groups, true)
			}
		})
	}
}
