package advice_test

import (
	"fmt"
	"math"
	"slices"
	"soku/test/plans"
	"strconv"
	"strings"
	"testing"

	"soku/internal/campaign/advice"
	"soku/internal/campaign/plan"
	"soku/internal/stats"
)

const designed = `campaign: c
endpoints: {a: {address: 10.0.0.1}, b: {address: 10.0.0.2}}
to: a
factors: {streams: [1, 4, 16], congestion: [cubic, bbr]}
tests: {bulk: {test: tcp}, short: {test: tcp, rounds: 1}}
rounds: 12
`

func TestAPlanSaysHowSmallADifferenceItCanShow(t *testing.T) {
	p := plans.Parse(t, designed)
	got := advice.PowerOf(p, map[string]float64{"bulk": 0.02}, nil)
	if len(got) != 1 || got[0].Label != "bulk" || got[0].Patterns != 6 || got[0].Rounds != 12 || len(got[0].Factors) != 2 {
		t.Fatalf("%+v, want the test whose noise is known", got)
	}
	// 15 pairs of 6 patterns, variances pooled over 5 x 11 residuals.
	want := math.Expm1(stats.SmallestShown(0.02*math.Sqrt(2.0/12), 55, 0.05/15))
	if s := got[0].Smallest; s == nil || math.Abs(*s-want) > 1e-9 {
		t.Errorf("between patterns: %v, want %v", s, want)
	}
	// Each level of streams is in 2 patterns, each of congestion in 3; they are compared by round.
	for i, want := range []float64{
		math.Expm1(stats.SmallestShown(0.02*math.Sqrt(2.0/2/12), 11, 0.05/3)), math.Expm1(stats.SmallestShown(0.02*math.Sqrt(2.0/3/12), 11, 0.05)),
	} {
		if f := got[0].Factors[i]; f.Smallest == nil || math.Abs(*f.Smallest-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", f.Factor, *f.Smallest, want)
		}
	}
}

// With bbr as the control, and without 16 streams, two levels of one factor are compared.
func TestTheSmallestDifferenceOfAFactorIsOfTheLevelsThatAreCompared(t *testing.T) {
	only, err := plan.ParseSelection([]string{"streams=1,4"})
	if err != nil {
		t.Fatal(err)
	}
	got := advice.PowerOf(plans.Parse(t, designed+"control: {congestion: bbr}\n"), map[string]float64{"bulk": 0.02}, only)[0].Factors
	want := math.Expm1(stats.SmallestShown(0.02*math.Sqrt(2.0/12), 11, 0.05))
	if len(got) != 1 || got[0].Factor != "streams" || math.Abs(*got[0].Smallest-want) > 1e-9 {
		t.Errorf("%+v, want streams with %v", got, want)
	}
}

// In one round, four levels are compared together over the combinations of the other factors.
func TestLevelsOfOneRoundAreComparedOverTheOtherFactors(t *testing.T) {
	p := plans.Parse(t, `campaign: c
endpoints: {a: {address: 10.0.0.1}, b: {address: 10.0.0.2}}
to: a
factors: {streams: [1, 2, 4, 8], window: [64k, 128k, 256k, 512k, 1M, 2M]}
tests: {bulk: {test: tcp}}
rounds: 1
`)
	got := advice.PowerOf(p, map[string]float64{"bulk": 0.02}, nil)[0]
	for i, want := range []float64{
		math.Expm1(stats.SmallestShown(0.02*math.Sqrt(2.0/6), 3*5, 0.05/6)), math.Expm1(stats.SmallestShown(0.02*math.Sqrt(2.0/4), stats.ShownDF(6, 4), 0.05/15)),
	} {
		if f := got.Factors[i]; f.Smallest == nil || math.Abs(*f.Smallest-want) > 1e-9 {
			t.Errorf("%s: %+v, want %v", f.Factor, f, want)
		}
	}
}

func TestTheRoundsThatAPlanNeedsShowThePracticalThreshold(t *testing.T) {
	noise := map[string]float64{"bulk": 0.02}
	needed := advice.PowerOf(plans.Parse(t, designed+"practical: 1%\n"), noise, nil)[0].Needed
	if needed <= 12 {
		t.Fatalf("%d rounds needed, want more than 12", needed)
	}
	for rounds, enough := range map[int]bool{needed: true, needed - 1: false} {
		p := plans.Parse(t, strings.Replace(designed, "rounds: 12", fmt.Sprint("rounds: ", rounds), 1)+"practical: 1%\n")
		if got := advice.PowerOf(p, noise, nil)[0]; (got.Needed == 0) != enough || (*got.Smallest <= 0.01) != enough {
			t.Errorf("%d rounds: smallest %v, needed %d", rounds, *got.Smallest, got.Needed)
		}
	}
}

func TestTheControlIsNotAmongThePatternsThatAreCompared(t *testing.T) {
	p := plans.Parse(t, designed+"control: {streams: 16}\n")
	if got := advice.PowerOf(p, map[string]float64{"bulk": 0.02}, nil); got[0].Patterns != 4 {
		t.Errorf("%d patterns, want those without the control", got[0].Patterns)
	}
}

func TestHalfOfTheComparedLevelsIsOfferedInTwiceTheRounds(t *testing.T) {
	const head = `campaign: c
endpoints: {a: {address: 10.0.0.1}, b: {address: 10.0.0.2}, c: {address: 10.0.0.3}, d: {address: 10.0.0.4}}
tests: {bulk: {test: tcp}}
rounds: 12
`
	const gateways = "factors: {gateway: [{name: a, to: a}, {name: b, to: b}, {name: c, to: c}, {name: d, to: d}]}\n"
	const eight = "to: a\nfactors: {streams: [1, 2, 3, 4, 5, 6, 7, 8]}\n"
	type offer struct{ levels, patterns int }
	for _, c := range []struct {
		name, text string
		only       []string
		want       *offer
	}{
		{"eight levels", eight, nil, &offer{4, 4}},
		{"two factors", "to: a\nfactors: {streams: [1, 2, 3, 4, 5, 6, 7, 8], congestion: [cubic, bbr]}\n", nil, &offer{4, 8}},
		{"four levels", gateways, nil, &offer{2, 2}},
		{"four levels, of which one is the control", gateways + "control: {gateway: a}\n", nil, nil},
		{"five levels, of which one is the control", "to: a\nfactors: {streams: [1, 2, 3, 4, 5]}\ncontrol: {streams: 1}\n", nil, &offer{2, 2}},
		{"two of eight levels", eight, []string{"streams=1,2"}, nil},
		{"a search of one option", "to: a\nfind: {option: streams, from: 1, to: 32}\n", nil, nil},
		{"a search and a factor of four levels", gateways + "find: {option: streams, from: 1, to: 32}\n", nil, &offer{2, 12}},
	} {
		only, err := plan.ParseSelection(c.only)
		if err != nil {
			t.Fatal(err)
		}
		got := advice.PowerOf(plans.Parse(t, head+c.text), map[string]float64{"bulk": 0.02}, only)[0].Halved
		if c.want == nil {
			if got != nil {
				t.Errorf("%s: %+v, want no offer", c.name, *got)
			}
			continue
		}
		comparisons := float64(c.want.patterns*(c.want.patterns-1)) / 2
		smallest := math.Expm1(stats.SmallestShown(0.02*math.Sqrt(2.0/24), stats.ShownDF(c.want.patterns, 24), 0.05/comparisons))
		if got == nil || got.Levels != c.want.levels || got.Rounds != 24 || math.Abs(got.Smallest-smallest) > 1e-9 {
			t.Errorf("%s: %+v, want %d levels in 24 rounds that show %v", c.name, got, c.want.levels, smallest)
		}
	}
}

func TestPlansThatCannotDecideAreWarnedOf(t *testing.T) {
	const ends = `campaign: c
endpoints: {a: {address: 10.0.0.1}, b: {address: 10.0.0.2}}
tests: {bulk: {test: tcp}}
`
	const paired = `campaign: c
endpoints:
  a: {command: [ssh, a, soku], address: 10.0.0.1, addresses: {first: 10.0.0.1, second: 10.1.0.1}}
  b: {command: [ssh, b, soku], address: 10.0.0.2, addresses: {first: 10.0.0.2, second: 10.1.0.2}}
  c: {command: [ssh, c, soku], address: 10.0.0.3}
  d: {command: [ssh, d, soku], address: 10.0.0.4}
tests: {bulk: {test: tcp}}
rounds: 6
`
	for plan, want := range map[string][]string{
		designed: {"one_round short"},
		strings.Replace(designed, "rounds: 12", "rounds: 5", 1):                                                                              {"few_rounds bulk", "one_round short"},
		ends + "rounds: 6\nfactors: {sku: [{name: x, to: a}, {name: y, to: b}]}\n":                                                           {"own_hosts sku"},
		ends + "rounds: 6\nto: a\nfactors: {streams: [1, 4], window: [{name: 64k, when: {streams: 1}}, {name: 128k, when: {streams: 4}}]}\n": {"confounded window streams"},
		ends + "rounds: 6\nto: a\nfactors: {streams: [1, 4], window: [64k, 128k]}\n":                                                         nil,
		ends + "rounds: 6\nfactors: {streams: [1, 4], sku: [{name: x, to: a}, {name: y, to: b}]}\n":                                          {"own_hosts sku"},
		ends + "rounds: 3\nto: a\nfactors: {streams: [1, 4]}\nuntil: {interval: 2%}\n":                                                       nil,
		ends + "rounds: 6\nfactors: {sku: [{name: x, to: a}, {name: y, to: b}, {name: z, to: b, options: {dscp: 8}}]}\n":                     nil,
		ends + "rounds: 6\nfactors: {sku: [{name: x, to: a}, {name: y, to: b}, {name: z, to: b, options: {dscp: 8}}]}\ncontrol: {sku: z}\n":  {"own_hosts sku"},
		ends + "rounds: 1\nto: a\n": nil,
		// a and b are in two pairs, c and d in one.
		paired + "contention: [isolated, together]\npairs: {list: [[a, b], [b, a], [c, d]]}\n":                   {"shared_hosts contention 2"},
		paired + "contention: [isolated, together]\npairs: {list: [[a, b], [a.second, b.second], [c, d]]}\n":     {"shared_hosts contention 2"},
		paired + "contention: [isolated, together]\npairs: {list: [[a, b], [c, d]]}\n":                           nil,
		paired + "contention: together\npairs: {mesh: [a, b, c]}\n":                                              nil,
		paired + "contention: [isolated, together]\ncontrol: {contention: isolated}\npairs: {mesh: [a, b, c]}\n": nil,
		// Every level is measured between the same hosts.
		paired + "factors: {interface: [{name: x, to_label: first}, {name: y, to_label: second}]}\npairs: {list: [[a, b]]}\n": nil,
		ends + "rounds: 6\nto: a\nfactors: {streams: [1, {name: 4, when: {window: 64k}}], window: [64k, 128k]}\n":             nil,
	} {
		var got []string
		for _, w := range advice.Warnings(plans.Parse(t, plan), nil) {
			said := []string{string(w.Code), strings.Join(w.Tests, ",") + w.Factor}
			if w.Other != "" {
				said = append(said, w.Other)
			}
			if w.Hosts > 0 {
				said = append(said, strconv.Itoa(w.Hosts))
			}
			got = append(got, strings.Join(said, " "))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q of\n%s", got, want, plan)
		}
	}
}

func TestEachWeaknessIsFoundInWhatIsRunNow(t *testing.T) {
	p := plans.Parse(t, designed)
	only, err := plan.ParseSelection([]string{"streams=1", "congestion=bbr"})
	if err != nil {
		t.Fatal(err)
	}
	if w := advice.Warnings(p, only); len(w) > 0 {
		t.Errorf("%+v of a single pattern, where nothing is compared", w)
	}
}
