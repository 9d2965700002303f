package report

import (
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
