package report

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/stats"
)

// searchedGateways is what searches of streams leave for two gateways, of 100 Mbit/s and of
// 800 Mbit/s, on two circuits that carry as much: the small gateway is full with 1 stream, the
// large one with 8. In round 1 the levels that were measured again had luck: a fifth more on circuit a.
func searchedGateways() Input {
	d := design{
		factors: []string{"streams", "gateway", "circuit"}, levels: [][]string{{"1", "2", "4", "8", "16", "32"}, {"large", "small"}, {"a", "b"}}, rounds: 8, noise: 0.01,
		bps: func(l []string) float64 {
			n, _ := strconv.ParseFloat(l[0], 64)
			return min(100e6*n, map[string]float64{"large": 800e6, "small": 100e6}[l[1]])
		},
	}
	visited := map[string][]string{"small": {"1", "2", "4"}, "large": {"1", "2", "4", "8", "16", "32"}}
	around := map[string][]string{"small": {"1", "2"}, "large": {"8", "16", "32"}}
	in := d.input()
	in.Results = slices.DeleteFunc(in.Results, func(r *measure.Result) bool {
		streams, gateway := r.Trial.Levels[0].Value, r.Trial.Levels[1].Value
		if r.Trial.Round == 1 {
			if r.Trial.Levels[2].Value == "a" && slices.Contains(around[gateway], streams) {
				r.Summary.GoodputBps *= 1.2
			}
			return !slices.Contains(visited[gateway], streams)
		}
		return !slices.Contains(around[gateway], streams)
	})
	in.Design.Searched = "streams"
	return in
}

func TestFactorsOfASearchAreComparedAtThePlateaus(t *testing.T) {
	in := searchedGateways()
	r := build(t, in)
	tcp := r.test(t, "tcp")
	if tcp.PlateauOf != "streams" || len(tcp.FactorEffects) != 2 {
		t.Fatalf("plateau of %q, %+v", tcp.PlateauOf, tcp.FactorEffects)
	}
	// No level of streams was measured with both gateways after round 1.
	for _, e := range tcp.Effects {
		switch {
		case e.Factor == "gateway" && (e.Decision != stats.Worse || math.Abs(*e.Ratio*8-1) > 0.03 || e.A != "small" || e.Blocks != 7):
			t.Errorf("%+v, want an eighth in 7 rounds", e)
		case e.Factor == "circuit" && (e.Decision != stats.Same || e.Blocks != 7):
			t.Errorf("%+v, want no practical difference in 7 rounds", e)
		}
	}
	said := strings.Join(english(tcp).causes(), "\n")
	for _, want := range []string{
		"gateway sets the goodput at the plateau of streams: 8.0 × from small to large", "circuit makes no practical difference to the goodput at the plateau of streams: ",
		"8 on with large / a and large / b",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("not said: %q\n%s", want, said)
		}
	}
	for form, want := range map[string]string{
		"html": "What each factor does, at the plateau of streams", "md": "### tcp: What each factor does, at the plateau of streams",
		"txt": "What each factor does, at the plateau of streams", "json": `"effects_at_plateau_of": "streams"`,
	} {
		if !strings.Contains(written(t, forms(r)[form]), want) {
			t.Errorf("%s has no %q", form, want)
		}
	}
	// Of a list of levels, those that both gateways have are compared.
	in.Design.Searched = ""
	if tcp := build(t, in).test(t, "tcp"); tcp.PlateauOf != "" || len(tcp.FactorEffects) != 3 {
		t.Errorf("plateau of %q, %d factors", tcp.PlateauOf, len(tcp.FactorEffects))
	}
}

// A level that occurs in no combination with the others is compared with none of them.
func TestAFactorMakesNoDifferenceBetweenTheLevelsThatCanBeCompared(t *testing.T) {
	in := searchedGateways()
	direct := searchedGateways()
	direct.Results = slices.DeleteFunc(direct.Results, func(r *measure.Result) bool {
		return r.Trial.Levels[1].Value != "small" || r.Trial.Levels[2].Value != "a"
	})
	for _, r := range direct.Results { // the same figures without gateway and circuit
		r.ID += "-direct"
		r.Trial.Levels[1].Value, r.Trial.Levels[2].Value = "none", "none"
		r.Trial.Pattern = measure.JoinLevels(r.Trial.Levels)
		in.Results = append(in.Results, r)
	}
	tcp := build(t, in).test(t, "tcp")
	for _, f := range tcp.FactorEffects {
		if f.Factor == "circuit" && f.Matters != stats.MattersNotShown {
			t.Errorf("%+v: nothing is known of the level none", f)
		}
	}
	if said := strings.Join(english(tcp).causes(), "\n"); !strings.Contains(said, "circuit (a and b) makes no practical difference to the goodput at the plateau of streams: ") {
		t.Error(said)
	}
}

func TestTheFactorBesideASearchIsCompared(t *testing.T) {
	in := searchedGateways()
	in.Results = slices.DeleteFunc(in.Results, func(r *measure.Result) bool { return r.Trial.Levels[2].Value == "b" })
	for _, r := range in.Results {
		r.Trial.Levels = r.Trial.Levels[:2]
	}
	tcp := build(t, in).test(t, "tcp")
	if len(tcp.Effects) != 1 || tcp.Effects[0].Factor != "gateway" || tcp.Effects[0].Decision != stats.Worse {
		t.Errorf("%+v", tcp.Effects)
	}
	in.Results = slices.DeleteFunc(in.Results, func(r *measure.Result) bool { return r.Trial.Levels[1].Value == "small" })
	if tcp := build(t, in).test(t, "tcp"); tcp.FactorEffects != nil || tcp.PlateauOf != "" {
		t.Errorf("a search alone has effects: %+v", tcp.FactorEffects)
	}
}

func TestASearchOfOneRoundComparesWhatItHas(t *testing.T) {
	in := searchedGateways()
	in.Results = slices.DeleteFunc(in.Results, func(r *measure.Result) bool { return r.Trial.Round > 1 })
	for _, e := range build(t, in).test(t, "tcp").Effects {
		if e.Factor == "gateway" && (e.Ratio == nil || math.Abs(*e.Ratio*8-1) > 0.05 || e.Unit != stats.UnitLevels) {
			t.Errorf("%+v, want an eighth on two circuits", e)
		}
	}
}

// A search with a threshold has no plateau: the highest level that holds is what it found.
func TestTheHighestLevelAtWhichAThresholdHoldsIsReported(t *testing.T) {
	in := searchedGateways()
	in.Results = slices.DeleteFunc(in.Results, func(r *measure.Result) bool { return r.Trial.Levels[2].Value == "b" })
	in.Design.While = While{Text: "goodput <= 500 Mbit/s", Test: "tcp", Holds: func(r *measure.Result) bool { return r.Error == nil && r.Summary.GoodputBps <= 500e6 }}
	tcp := build(t, in).test(t, "tcp")
	found := map[string]Highest{}
	for _, c := range tcp.allCurves() {
		if c.Highest == nil || c.Knee != nil || c.Plateau != nil {
			t.Fatalf("%+v", c)
		}
		found[c.Levels[0].Value] = *c.Highest
	}
	if large := found["large"]; large.Level != "4" || large.Fails != "8" || large.Rounds != 1 {
		t.Errorf("large: %+v", large)
	}
	if small := found["small"]; small.Level != "4" || small.Fails != "" {
		t.Errorf("small: %+v", small)
	}
	said := strings.Join(english(tcp).causes(), "\n")
	for _, want := range []string{
		"large: goodput <= 500 Mbit/s holds up to streams 4, in 1 round; it does not at 8.",
		"small: goodput <= 500 Mbit/s holds up to streams 4, in 1 round, the last level of the search.",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("not said: %q\n%s", want, said)
		}
	}
	in.Design.While.Holds = func(*measure.Result) bool { return false }
	if said := strings.Join(english(build(t, in).test(t, "tcp")).causes(), "\n"); !strings.Contains(said, "does not hold at streams 1, the lowest level measured") {
		t.Error(said)
	}
	in.Design.While.Test = "another"
	if c := build(t, in).test(t, "tcp").allCurves()[0]; c.Highest != nil || c.Knee != nil {
		t.Errorf("another test decides: %+v", c)
	}
}
