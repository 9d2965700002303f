package report

import (
	"fmt"
	"strings"
	"testing"

	"soku/internal/measure/metric"
	"soku/internal/stats"
)

// levelsThatDiffer returns the comparisons of n levels of a factor, of which the first differ.
func levelsThatDiffer(n, differ int) (out []upward) {
	ratio := 1.5
	for a := range n {
		for b := range a {
			e := &LevelEffect{Factor: "sku", A: fmt.Sprint("s", a), B: fmt.Sprint("s", b), EffectRatio: EffectRatio{Ratio: &ratio}, Decision: stats.NotShown}
			if len(out) < differ {
				e.Decision = stats.Better
			}
			out = append(out, e.upward())
		}
	}
	return out
}

func TestASentenceNamesTheFewerPairsOfLevels(t *testing.T) {
	v := english(&Test{})
	for want, pairs := range map[string][]upward{
		"": levelsThatDiffer(2, 1),
		"All 6 pairs of levels differ, after correction for their number.":                                                 levelsThatDiffer(4, 6),
		"After correction for 3 comparisons s0 and s1; s0 and s2 differ; s1 and s2 are not told apart.":                    levelsThatDiffer(3, 2),
		"After correction for 6 comparisons 5 pairs of levels differ, all but s2 and s3.":                                  levelsThatDiffer(4, 5),
		"After correction for 6 comparisons 2 pairs of levels differ: s0 and s1; s0 and s2.":                               levelsThatDiffer(4, 2),
		"After correction for 6 comparisons s0 and s1 are the pair of levels that differs.":                                levelsThatDiffer(4, 1),
		"After correction for 6 comparisons 3 pairs of levels differ.":                                                     levelsThatDiffer(4, 3),
		"After correction for 3 comparisons s0 and s1 are the pair that differs; s0 and s2; s1 and s2 are not told apart.": levelsThatDiffer(3, 1),
	} {
		if got := v.pairsShown(pairs); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestOfManyFactorsThatDependOnEachOtherTheStrongestAreSaid(t *testing.T) {
	test := &Test{Basis: Basis{metric.Goodput}}
	for i, ratio := range []float64{1.2, 3, 0.25, 1.1, 2} {
		test.Interactions = append(test.Interactions, Interaction{
			Factors: [2]string{fmt.Sprint("f", i), "other"}, A: &[2]string{"a", "b"}, B: &[2]string{"x", "y"}, Shown: 1, Tested: 1,
			EffectRatio: EffectRatio{Ratio: &ratio, Blocks: 6, Unit: stats.UnitRound},
		})
	}
	said := english(test).causes()
	if len(said) != 4 || said[3] != "So do 2 more pairs of factors, less strongly (in the form json)." {
		t.Fatalf("%q", said)
	}
	for i, factor := range []string{"f1", "f2", "f4"} {
		if !strings.HasPrefix(said[i], "What "+factor+" does depends on other: ") {
			t.Errorf("%q, want what %s does", said[i], factor)
		}
	}
	test.Interactions = test.Interactions[:3]
	if said := english(test).causes(); len(said) != 3 || !strings.HasPrefix(said[2], "What f2 ") {
		t.Errorf("%q", said)
	}
}

func TestRangesOfAFactorAreOneSentence(t *testing.T) {
	test := &Test{Ranges: []DisjointRanges{
		{Factor: "zone", Lower: []string{"1", "2"}, Higher: []string{"3"}, Compared: 3}, {Factor: "zone", Lower: []string{"2"}, Higher: []string{"1"}, Compared: 1},
		{Factor: "fast", Lower: []string{"on"}, Higher: []string{"off"}, Compared: 1},
	}}
	want := []string{
		"zone: every run with 1 and 2 was below every run with 3, all else equal (3 comparisons); every run with 2 was below every run with 1, all else equal (1 comparison); ranges only, so not tested.",
		"fast: every run with on was below every run with off, all else equal (1 comparison); ranges only, so not tested.",
	}
	if got := english(test).rangesApart(); len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%q, want %q", got, want)
	}
	for range 5 {
		test.Ranges = append(test.Ranges, test.Ranges[0])
	}
	if got := english(test).rangesApart(); len(got) != 2 || !strings.Contains(got[0], "; 3 more; ranges only") {
		t.Errorf("%q", got)
	}
}
