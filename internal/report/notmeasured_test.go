package report

import (
	"math"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
)

func TestPatternsOfThePlanThatWereNotMeasuredAreNamed(t *testing.T) {
	in := gateways().input()
	for _, r := range in.Results[:6] {
		in.Patterns = append(in.Patterns, r.Trial.Levels)
	}
	if test := build(t, in).test(t, "tcp"); len(test.NotMeasured) > 0 || caveatOf(test, CaveatNotMeasured) != nil {
		t.Errorf("%q, though all were measured", test.NotMeasured)
	}
	in.Results = slices.DeleteFunc(in.Results, func(r *measure.Result) bool { return r.Trial.Levels[0].Value == "large" })
	test := build(t, in).test(t, "tcp")
	if want := []string{"large / public", "large / private"}; !slices.Equal(test.NotMeasured, want) {
		t.Fatalf("%q, want %q", test.NotMeasured, want)
	}
	c := caveatOf(test, CaveatNotMeasured)
	if c == nil || c.Left != 2 || !strings.Contains(english(test).caveat(*c), "2 patterns of the plan were not measured: large / public, large / private.") {
		t.Errorf("%+v", test.Caveats)
	}
	in.Unvaried = map[string][]string{"tcp": {"sku"}}
	if test := build(t, in).test(t, "tcp"); len(test.NotMeasured) > 0 {
		t.Errorf("%q, though sku sets nothing in the test", test.NotMeasured)
	}
}

func TestLevelsThatASearchDidNotNeedAreNotNamed(t *testing.T) {
	in := streamSweep("1", "2").input()
	for _, zone := range []string{"1", "2", "3"} {
		for _, streams := range []string{"1", "2", "4", "8", "16"} {
			in.Patterns = append(in.Patterns, []measure.Level{{Factor: "streams", Value: streams}, {Factor: "zone", Value: zone}})
		}
	}
	in.Results = slices.DeleteFunc(in.Results, func(r *measure.Result) bool { return r.Trial.Levels[0].Value == "16" })
	if got := build(t, in).test(t, "tcp").NotMeasured; len(got) != 7 {
		t.Errorf("%q of a full list, want 2 and the 5 of a zone", got)
	}
	in.Design.Searched = "streams"
	if got := build(t, in).test(t, "tcp").NotMeasured; !slices.Equal(got, []string{"3"}) {
		t.Errorf("%q of a search, want the zone that it has no trial of", got)
	}
}

// Levels that were added to a campaign are named with their rounds, and compared in these alone.
func TestLevelsOfLaterRoundsAreNamed(t *testing.T) {
	in := gateways().input()
	if test := build(t, in).test(t, "tcp"); caveatOf(test, CaveatLaterLevels) != nil {
		t.Errorf("%+v, though all levels are in all rounds", test.Caveats)
	}
	in.Results = slices.DeleteFunc(in.Results, func(r *measure.Result) bool {
		if r.Trial.Round > 3 {
			return false
		}
		r.Summary.GoodputBps *= 3 // what the path carried then is no difference of levels
		return r.Trial.Levels[0].Value == "large"
	})
	test := build(t, in).test(t, "tcp")
	c := caveatOf(test, CaveatLaterLevels)
	if c == nil || len(c.Later) != 1 {
		t.Fatalf("%+v", test.Caveats)
	}
	if got := english(test).caveat(*c); got != "Not in all rounds: sku large in 3 of 6 rounds, from round 4 on. Comparisons with them are of these rounds alone." {
		t.Error(got)
	}
	found := false
	for _, e := range test.Effects {
		if e.Factor == "sku" && e.A == "small" && e.B == "large" || e.A == "large" && e.B == "small" {
			found = true
			if ratio := max(*e.Ratio, 1 / *e.Ratio); math.Abs(ratio-4) > 0.05 {
				t.Errorf("large has %.2f times the figure of small, want 4 as in the rounds of both", ratio)
			}
		}
	}
	if !found {
		t.Errorf("small and large are not compared: %+v", test.Effects)
	}
	in.Design.Searched = "sku"
	if test := build(t, in).test(t, "tcp"); caveatOf(test, CaveatLaterLevels) != nil {
		t.Error("levels of a search are named")
	}
}
