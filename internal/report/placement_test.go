package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
)

// onHosts puts each trial of a campaign on the server that a function names.
func onHosts(in Input, server func(*measure.Trial) string) Input {
	for _, r := range in.Results {
		r.Trial.Pair = &measure.Pair{Server: measure.Endpoint{Name: server(r.Trial)}}
	}
	return in
}

func caveatOf(test *Test, code CaveatCode) *Caveat {
	if i := slices.IndexFunc(test.Caveats, func(c Caveat) bool { return c.Code == code }); i >= 0 {
		return &test.Caveats[i]
	}
	return nil
}

func TestADifferenceOfLevelsOnOneHostEachMayBeOfTheHosts(t *testing.T) {
	sku := func(tr *measure.Trial) string { return tr.Levels[0].Value }
	test := build(t, onHosts(gateways().input(), sku)).test(t, "tcp")
	c := caveatOf(test, CaveatPlacement)
	if c == nil || !slices.Equal(c.Factors, []string{"sku"}) {
		t.Fatalf("%+v, want a caveat about sku", test.Caveats)
	}
	if said := english(test).caveat(*c); !strings.Contains(said, "may be of these hosts, not of sku") {
		t.Error(said)
	}
	for name, server := range map[string]func(*measure.Trial) string{
		"the same host for all":                         func(*measure.Trial) string { return "vm" },
		"two hosts for each level":                      func(tr *measure.Trial) string { return fmt.Sprint(tr.Levels[0].Value, tr.Round%2) },
		"the host of a factor that makes no difference": func(tr *measure.Trial) string { return tr.Levels[1].Value },
	} {
		if c := caveatOf(build(t, onHosts(gateways().input(), server)).test(t, "tcp"), CaveatPlacement); c != nil {
			t.Errorf("%s: %+v", name, *c)
		}
	}
}

func TestHostsThatWereRedeployedBetweenRoundsAreNoCaveat(t *testing.T) {
	d := gateways()
	d.boot = func(round int) string { return fmt.Sprint(round) }
	in := onHosts(d.input(), func(tr *measure.Trial) string { return tr.Levels[0].Value })
	if c := caveatOf(build(t, in).test(t, "tcp"), CaveatPlacement); c != nil {
		t.Errorf("%+v", *c)
	}
}

func TestNeighbouringRoundsThatAreAlikeAreACaveat(t *testing.T) {
	drifting, steady := map[string][]float64{}, map[string][]float64{}
	for round := range 20 {
		drifting["a"] = append(drifting["a"], 200e6*(1+0.05*math.Sin(float64(round)/3)))
		drifting["b"] = append(drifting["b"], 100e6)
		steady["a"] = append(steady["a"], 200e6*(1+0.05*float64(1-2*(round%2))))
		steady["b"] = append(steady["b"], 100e6)
	}
	test := build(t, campaignOf(drifting)).test(t, "tcp")
	c := caveatOf(test, CaveatAlike)
	if c == nil || !slices.Equal(c.Patterns, []string{"a", "b"}) || !strings.Contains(english(test).caveat(*c), "Neighbouring rounds are alike") {
		t.Errorf("%+v, want a caveat about a and b", test.Caveats)
	}
	// The pair that is stated second, and the effect of a factor.
	drifting["c"] = slices.Clone(steady["a"])
	for i := range drifting["c"] {
		drifting["c"][i] *= 3
	}
	if c := caveatOf(build(t, campaignOf(drifting)).test(t, "tcp"), CaveatAlike); c == nil || !slices.Equal(c.Patterns, []string{"a", "b"}) {
		t.Errorf("%+v, want a caveat about a and b behind c", c)
	}
	in := campaignOf(map[string][]float64{"s/x": drifting["a"], "s/y": drifting["a"], "u/x": drifting["b"], "u/y": drifting["b"]})
	for _, r := range in.Results {
		r.Trial.Levels = []measure.Level{{Factor: "sku", Value: r.Trial.Pattern[:1]}, {Factor: "zone", Value: r.Trial.Pattern[2:]}}
	}
	if c := caveatOf(build(t, in).test(t, "tcp"), CaveatAlike); c == nil || !slices.Contains(c.Factors, "sku") {
		t.Errorf("%+v, want a caveat about levels of sku", c)
	}
	if c := caveatOf(build(t, campaignOf(steady)).test(t, "tcp"), CaveatAlike); c != nil {
		t.Errorf("%+v of rounds that alternate", *c)
	}
}
