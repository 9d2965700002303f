package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/text"
)

// Gateways that differ at 16 streams only: on average over the streams the ratio is another one.
func TestFactorsAreComparedAtTheBestStreams(t *testing.T) {
	test := build(t, tunnels(6).input()).test(t, "tcp")
	if test.AtBest == nil || len(test.AtBest.Rows) != 4 || fmt.Sprint(test.AtBest.Tuned) != "[{streams 16}]" {
		t.Fatalf("%+v", test.AtBest)
	}
	if h := test.Headline; math.Abs(*h.Ratio-2) > 0.1 {
		t.Errorf("%v", *h.Ratio)
	}
	// From 1 to 8 tunnels of 95 Mbit/s: 8 times as much with 16 streams, and 3.2 times on average.
	widest := 0.0
	for _, e := range test.Effects {
		if e.Factor == "gateway" {
			widest = max(widest, *e.Ratio, 1 / *e.Ratio)
		}
	}
	if at := *test.AtBest.Ranking[0].Estimate / *test.AtBest.Ranking[3].Estimate; math.Abs(at-8) > 0.5 || widest > 5 {
		t.Errorf("%v at the best streams, %v on average", at, widest)
	}
}

func TestNoFactorIsComparedAtTheBestOfAnother(t *testing.T) {
	for name, c := range map[string]struct {
		design
		question string
	}{
		"a factor that is no option":    {closeGateways(), ""},
		"streams are what is asked for": {tunnels(6), "streams"},
		"streams alone":                 {streamSweep("1"), ""},
	} {
		in := c.input()
		in.Design.Question = c.question
		if test := build(t, in).test(t, "tcp"); test.AtBest != nil {
			t.Errorf("%s: %+v", name, test.AtBest.Tuned)
		}
	}
	// Each number of streams was measured with other gateways.
	in := tunnels(6).input()
	kept := in.Results[:0]
	for _, r := range in.Results {
		if l := r.Trial.Levels; (l[0].Value == "ultra") == (l[1].Value == "16") {
			kept = append(kept, r)
		}
	}
	in.Results = kept
	if test := build(t, in).test(t, "tcp"); test.AtBest != nil {
		t.Errorf("partly measured: %+v", test.AtBest.Tuned)
	}
}

// A level that a search visited once is no figure of a gateway.
func TestSearchedFactorsAreComparedAtTheirPlateaus(t *testing.T) {
	test := build(t, searchedGateways()).test(t, "tcp")
	if test.AtBest == nil || len(test.AtBest.Ranking) != len(test.AtBest.Rows) || test.AtBest.PlateauOf != "streams" {
		t.Fatalf("%+v", test.AtBest)
	}
	for _, r := range test.AtBest.Rows {
		if levelOf(r.Levels, "streams") != "" || strings.Contains(r.Pattern, "stream") {
			t.Errorf("%+v", r.Pattern)
		}
	}
}

// Sentences begin with a capital letter, and no change or interval is nothing.
func TestSentencesOfManyReportsAreWellFormed(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	reports := 300
	if n := simulated(); n > 1 {
		reports = 1000 * n
	}
	if testing.Short() {
		reports = 60
	}
	for n := range reports {
		d := randomDesign(random)
		in := d.input()
		in.Design.Question = []string{"", "", d.factors[0], measure.QuestionPatterns, measure.QuestionLimit}[random.IntN(5)]
		r := build(t, in)
		for i := range r.Tests {
			v := testView{&r.Tests[i], text.English()}
			first, caveats, further := v.said()
			if len(first)+len(caveats) > 1+mostFurther {
				t.Errorf("%d: %d sentences are said first", n, len(first)+len(caveats))
			}
			for _, s := range append(append(first, caveats...), further...) {
				if text.English().Capital(s) != s || !strings.HasSuffix(s, ".") || hollow.MatchString(s) || equalEnds(s) {
					t.Errorf("%d: %q", n, s)
				}
			}
		}
	}
}

// hollow are changes of nothing.
var hollow = regexp.MustCompile(`[+−]0(\.0+)? %|[ (]0(\.0+)? % (more|higher|lower)`)

var intervalEnds = regexp.MustCompile(`interval ([−0-9.,]+) to ([−0-9.,]+) `)

// equalEnds reports whether an interval has one figure at both ends.
func equalEnds(s string) bool {
	m := intervalEnds.FindStringSubmatch(s)
	return m != nil && m[1] == m[2]
}

// randomDesign is a campaign of one to three factors with levels of any kind of name.
func randomDesign(random *rand.Rand) design {
	d := design{rounds: 1 + random.IntN(8), noise: []float64{0, 1e-5, 0.002, 0.02, 0.3}[random.IntN(5)]}
	effects := map[string]float64{}
	for f := range 1 + random.IntN(3) {
		name := []string{"gateway", "streams", "zone", "öde"}[(f+random.IntN(2))%4]
		if f > 0 && name == d.factors[f-1] {
			name += "2"
		}
		var levels []string
		for l := range 2 + random.IntN(4) {
			level := []string{"none", "1", "ultra", "off", "16", "élan"}[l]
			levels = append(levels, level)
			effects[name+level] = 1 + float64(random.IntN(3))*[]float64{0, 0.0001, 0.01, 1}[random.IntN(4)]
		}
		d.factors, d.levels = append(d.factors, name), append(d.levels, levels)
	}
	d.bps = func(l []string) float64 {
		bps := 100e6
		for f, level := range l {
			bps *= effects[d.factors[f]+level]
		}
		return bps
	}
	return d
}
