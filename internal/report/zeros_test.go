package report

import (
	"slices"
	"strings"
	"testing"

	"soku/internal/report/outline"
)

func TestEffectsThatHaveNoRatioAreNotMadeOfTheOtherRounds(t *testing.T) {
	in := gateways().input()
	if test := build(t, in).test(t, "tcp"); len(test.FactorEffects) != 2 || len(test.Interactions) != 1 {
		t.Fatalf("%d factors, %d interactions", len(test.FactorEffects), len(test.Interactions))
	}
	lost := 1.0
	blocked := in.Results[3] // one pattern in one round
	blocked.Summary.GoodputBps, blocked.Summary.LossRatio = 0, &lost
	for range 2 {
		test := build(t, in).test(t, "tcp")
		if len(test.FactorEffects)+len(test.Effects)+len(test.Interactions) > 0 {
			t.Errorf("%+v, %+v", test.FactorEffects, test.Interactions)
		}
		at := slices.IndexFunc(test.Caveats, func(c Caveat) bool { return c.Code == CaveatZeros })
		if at < 0 {
			t.Fatalf("%+v", test.Caveats)
		}
		want := "The figure that ranks is 0 in one round of a pattern. The effects of factors are ratios and have none with 0"
		if n := test.Caveats[at].RoundMeans; n == 6 {
			want = "The figure that ranks is 0 in 6 rounds of patterns."
		} else if n != 1 {
			t.Errorf("%d round means", n)
		}
		if said := english(test).caveat(test.Caveats[at]); !strings.HasPrefix(said, want) {
			t.Errorf("%q", said)
		}
		for _, r := range in.Results {
			if r.Trial.Pattern == blocked.Trial.Pattern {
				r.Summary.GoodputBps, r.Summary.LossRatio = 0, &lost
			}
		}
	}
}

func TestTrialsWithoutTheFigureAreCounted(t *testing.T) {
	in := campaignOf(map[string][]float64{"a": {100e6, 101e6, 99e6}, "b": {100e6, 0, 0}})
	r := build(t, in)
	tcp := r.test(t, "tcp")
	for i, want := range []string{"3", "1 of 3"} {
		v := english(tcp)
		table := v.figureTable()
		at := slices.IndexFunc(table.Columns, func(c outline.Column) bool { return c.Name == "trials" })
		if got := texts(table)[i][at]; got != want || tcp.Rows[i].WithoutFigure != 2*i {
			t.Errorf("%s: %q trials, %d without a figure", tcp.Rows[i].Pattern, got, tcp.Rows[i].WithoutFigure)
		}
	}
	want := "2 of 6 trials succeeded without the figure that ranks and are not in it."
	if got := english(tcp).caveats(); len(got) == 0 || got[0] != want {
		t.Errorf("caveats %q", got)
	}
	if doc := written(t, r.JSON); strings.Count(doc, `"without_figure": 2`) != 1 {
		t.Errorf("the document has no count of them: %s", doc)
	}
}
