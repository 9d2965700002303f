package report

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/stats"
	"soku/test/tier"
)

// tunnels are gateways of one, two, four and eight tunnels of 95 Mbit/s, with streams that fill one each.
func tunnels(rounds int) design {
	of := map[string]float64{"basic": 1, "standard": 2, "high": 4, "ultra": 8}
	return design{
		factors: []string{"gateway", "streams"}, levels: [][]string{{"basic", "standard", "high", "ultra"}, {"1", "4", "16"}}, rounds: rounds, noise: 0.02,
		bps: func(l []string) float64 {
			n, _ := strconv.ParseFloat(l[1], 64)
			return 95e6 * min(n, of[l[0]])
		},
	}
}

func TestTheHeadlineAnswersForTheAskedFactor(t *testing.T) {
	flat := func(rate map[string]float64) func(l []string) float64 {
		return func(l []string) float64 { return 100e6 * max(rate[l[0]], 1) }
	}
	many := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}
	for name, c := range map[string]struct {
		design
		question     string
		code         AnswerCode
		first, lacks string
	}{
		"alone, at the best streams": {tunnels(6), "", AnswerBest, "Gateway ultra is fastest: 7", "basic"},
		"in three rounds":            {tunnels(3), "", AnswerBest, "Gateway ultra is fastest: 7", "shown by"},
		"the question of the plan":   {tunnels(6), "streams", AnswerBest, "Streams 16 is fastest: ", "ultra, high"},
		"two together": {design{
			factors: []string{"gateway"}, levels: [][]string{{"ultra", "high", "basic"}}, rounds: 6, noise: 0.02, bps: flat(map[string]float64{"ultra": 2, "high": 2}),
		}, "", AnswerNoneAhead, "Gateway ultra and high lead with 204.4 Mbit/s to 211.4 Mbit/s and are not told apart (", "Mbit/s)"},
		"no practical difference": {design{
			factors: []string{"gateway", "streams"}, levels: [][]string{{"ultra", "high"}, {"1", "2"}}, rounds: 12, noise: 0.002, bps: flat(nil),
		}, "", AnswerSame, "Gateway makes no practical difference to the goodput: ", "lead"},
		"no practical difference of patterns": {design{
			factors: []string{"gateway"}, levels: [][]string{{"ultra", "high", "basic"}}, rounds: 12, noise: 0.002, bps: flat(nil),
		}, "", AnswerSame, "Gateway makes no practical difference to the goodput: 2 % or more is ruled out, by 12 rounds.", ""},
		"undecided": {design{
			factors: []string{"gateway"}, levels: [][]string{many}, rounds: 3, noise: 0.3, bps: flat(nil),
		}, "", AnswerUndecided, "Gateway is not decided by 3 rounds: ", "9 patterns"},
		"seen": {design{
			factors: []string{"gateway"}, levels: [][]string{{"ultra", "high"}}, rounds: 3, noise: 0.01, bps: flat(map[string]float64{"ultra": 2}),
		}, "", AnswerBestSeen, "Gateway ultra is fastest: ", ""},
		"numbers": {design{
			factors: []string{"streams"}, levels: [][]string{{"1", "2"}}, rounds: 6, noise: 0.01, bps: flat(map[string]float64{"2": 2}),
		}, "", AnswerBest, "Streams 2 is fastest: ", ""},
		"one round": {tunnels(1), "", AnswerBestUntested, "Gateway ultra is fastest: ", "95 %"},
	} {
		in := c.input()
		in.Design.Question = c.question
		test := build(t, in).test(t, "tcp")
		said := english(test).sentences()
		if h := test.Headline; h == nil || h.Code != c.code || !strings.HasPrefix(said[0], c.first) || c.lacks != "" && strings.Contains(said[0], c.lacks) {
			t.Errorf("%s: %+v %q", name, h, said[0])
		}
		for i, s := range said[1:] {
			if s == said[0] || strings.Contains(s, "patterns are not told apart") {
				t.Errorf("%s: sentence %d is %q", name, i+1, s)
			}
		}
	}
}

func TestTheHeadlineHasRatioIntervalAndTheOtherLevels(t *testing.T) {
	test := build(t, tunnels(6).input()).test(t, "tcp")
	h := test.Headline
	if h.Factor != "gateway" || len(h.First) != 1 || h.First[0].Level != "ultra" || h.Next.Level != "high" || len(h.With) != 1 || h.With[0] != (measure.Level{Factor: "streams", Value: "16"}) {
		t.Fatalf("%+v", h)
	}
	if math.Abs(*h.Ratio-2) > 0.1 || *h.Low > 2 || *h.High < 2 || *h.Low < 1.9 || *h.High > 2.1 {
		t.Errorf("%v, %v to %v: want 2", *h.Ratio, *h.Low, *h.High)
	}
	said := english(test).headline()
	if !strings.Contains(said, " Mbit/s with streams 16, 2.0") || !strings.Contains(said, "× the next, high with 371.6 Mbit/s (95 % interval ") || !strings.HasSuffix(said, "; shown by 6 rounds.") {
		t.Error(said)
	}
	var document struct {
		Headline      string
		HeadlineFacts struct{ Code string } `json:"headline_facts"`
		Answer        string
	}
	data, err := json.Marshal(test)
	if err != nil || json.Unmarshal(data, &document) != nil || document.Headline != said || document.HeadlineFacts.Code != "best" || document.Answer == "" {
		t.Errorf("%+v, %v", document, err)
	}
}

// Round trips: the smaller figure is ahead, and the ratio of the sentence is above 1.
func TestTheHeadlineOfRoundTripsIsOfTheLowest(t *testing.T) {
	test := build(t, fourPatterns().input()).test(t, "latency")
	said := english(test).headline()
	if test.Headline == nil || *test.Headline.Ratio >= 1 || !strings.Contains(said, " × as high (95 % interval 2.") {
		t.Errorf("%+v %q", test.Headline, said)
	}
}

func TestASearchHasItsPlateauAsTheHeadlineUnlessThePlanAsks(t *testing.T) {
	in := searchedGateways()
	if h := build(t, in).test(t, "tcp").Headline; h == nil || h.Code != AnswerCurve || h.Factor != "streams" {
		t.Errorf("%+v", h)
	}
	in.Design.Question = "gateway"
	test := build(t, in).test(t, "tcp")
	if h := test.Headline; h == nil || h.Code != AnswerBest || h.First[0].Level != "large" || math.Abs(*h.Ratio-8) > 0.3 {
		t.Errorf("%+v %q", h, english(test).headline())
	}
}

func TestTablesSayNothingOfRanksThatAreNotKnown(t *testing.T) {
	v := english(build(t, tunnels(3).input()).test(t, "tcp"))
	reasons := 0
	for _, p := range v.Ranking {
		if v.reason(p) != "" {
			reasons++
		}
		if got := v.rankRange(p); v.vague(p) && strings.Contains(got.Text, " to ") {
			t.Errorf("%s has the ranks %s", p.Pattern, got.Text)
		}
	}
	best := 0
	for _, p := range v.Ranking {
		if p.Best {
			best++
		}
	}
	if best == 0 || reasons > best+1 {
		t.Errorf("%d reasons, %d patterns are among the best", reasons, best)
	}
}

// Equal gateways have no best one, not even where half of their patterns have two modes.
func TestHeadlinesSeldomNameABestOfEqualLevels(t *testing.T) {
	tier.SpendsSeconds(t)
	const campaigns = 40
	for name, c := range map[string]struct {
		rounds      int
		modes       bool
		ahead       float64
		least, most int
	}{
		"equal, 3 rounds": {3, false, 0, 0, 2}, "equal, 6 rounds": {6, false, 0, 0, 2},
		"two modes, 3 rounds": {3, true, 0, 0, 4}, "two modes, 6 rounds": {6, true, 0, 0, 4}, "5 % ahead, 6 rounds": {6, false, 0.05, 34, campaigns},
	} {
		best := 0
		for seed := range uint64(campaigns) {
			r, two := rand.New(rand.NewPCG(seed, 5)), map[string]bool{}
			in := tunnels(c.rounds).input()
			in.Results = slices.DeleteFunc(in.Results, func(x *measure.Result) bool { return x.Trial.Label != "tcp" })
			for _, x := range in.Results {
				if _, known := two[x.Trial.Pattern]; !known {
					two[x.Trial.Pattern] = c.modes && r.IntN(2) == 0
				}
				log := 0.02 * r.NormFloat64()
				if two[x.Trial.Pattern] {
					log += math.Log(2) * (float64(r.IntN(2)) - 0.5)
				}
				if x.Trial.Levels[0].Value == "ultra" {
					log += c.ahead
				}
				x.Summary.GoodputBps = 100e6 * math.Exp(log)
			}
			if h := build(t, in).test(t, "tcp").Headline; h.Code == AnswerBest && (c.ahead == 0 || h.First[0].Level == "ultra") {
				best++
			}
		}
		if best < c.least || best > c.most {
			t.Errorf("%s: a best one in %d of %d campaigns, want %d to %d", name, best, campaigns, c.least, c.most)
		}
	}
}

func TestPatternsWithoutFactorsHaveNoHeadlineOfAFactor(t *testing.T) {
	one, two := 1.0, 2.0
	test := Test{
		Answer:  Answer{Code: AnswerBest},
		Ranking: []Place{{Pattern: "x", Rank: 1, Estimate: &two}, {Pattern: "y", Rank: 2, Estimate: &one}},
		Rows:    []Row{{Pattern: "x"}, {Pattern: "y"}},
	}
	if h := test.findHeadline(""); h != nil {
		t.Errorf("the headline is %+v", h)
	}
}

// Trials that are missing may differ between pairs of levels.
func TestLevelsOfWhichEachIsBehindAnotherHaveNoBest(t *testing.T) {
	half, figure := 0.5, 1.0
	behind := func(a, b string) LevelEffect {
		return LevelEffect{Factor: "sku", A: a, B: b, EffectRatio: EffectRatio{Ratio: &half}, Decision: stats.Worse}
	}
	test := Test{FactorEffects: []FactorEffect{{Factor: "sku"}}, Effects: []LevelEffect{behind("a", "b"), behind("b", "c"), behind("c", "a")}}
	var levels []levelBest
	for _, name := range []string{"a", "b", "c"} {
		levels = append(levels, levelBest{name: name, Place: &Place{Pattern: name, Estimate: &figure}})
	}
	if h := test.fromEffects(&Answer{Factor: "sku"}, levels); h != nil {
		t.Errorf("the headline is %+v", h)
	}
}

// Of two levels the headline says all that a sentence about the effect of their factor could.
func TestTheEffectOfTwoLevelsIsSaidOnce(t *testing.T) {
	said := func(levels ...string) string {
		d := design{factors: []string{"disk", "link"}, levels: [][]string{{"a", "b"}, levels}, rounds: 6, noise: 0.005, bps: func(l []string) float64 {
			return map[string]float64{"fast": 4e8, "slow": 1e8, "slower": 5e7}[l[1]]
		}}
		in := d.input()
		in.Design.Question = "link"
		return strings.Join(english(build(t, in).test(t, "tcp")).sentences(), "\n")
	}
	if got := said("slow", "fast"); !strings.HasPrefix(got, "Link fast is fastest") || strings.Contains(got, "Link sets") {
		t.Error(got)
	}
	if got := said("slower", "slow", "fast"); !strings.Contains(got, "Link sets") {
		t.Error(got)
	}
}
