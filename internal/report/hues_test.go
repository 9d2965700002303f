package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/report/outline"
)

// ofTests is the campaign of several designs, each under a label.
func ofTests(designs map[string]design) (in Input) {
	for label, d := range designs {
		for _, r := range d.input().Results {
			r.ID, r.Trial.Label = label+r.ID, label
			in.Results = append(in.Results, r)
		}
	}
	return in
}

func TestALevelHasOneColourInAllTests(t *testing.T) {
	by := func(f int) func(l []string) float64 {
		return func(l []string) float64 { return 1e8 * float64(len(l[f])) }
	}
	skus, disks := []string{"a", "bb", "ccc"}, []string{"hdd", "ssds"}
	r := build(t, ofTests(map[string]design{
		"1": {factors: []string{"sku", "disk"}, levels: [][]string{skus, disks}, rounds: 3, noise: 0.001, bps: by(0)},
		"2": {factors: []string{"sku", "disk"}, levels: [][]string{skus[1:], disks}, rounds: 3, noise: 0.001, bps: by(0)},
		"3": {factors: []string{"sku", "disk"}, levels: [][]string{skus, disks}, rounds: 3, noise: 0.001, bps: by(1)},
	}))
	want := map[string]int{"a": 0, "bb": 1, "ccc": 2, "hdd": 3, "ssds": 4}
	for i := range r.Tests {
		test := &r.Tests[i]
		if factor := map[string]string{"1": "sku", "2": "sku", "3": "disk"}[test.Label]; test.hues.factor != factor {
			t.Errorf("%s: colours of %q, want %q", test.Label, test.hues.factor, factor)
		}
		for _, row := range test.Rows {
			level := levelOf(row.Levels, test.hues.factor)
			if got := test.hues.of(row.Levels); got != want[level] {
				t.Errorf("%s: %s has the colour %d, want %d", test.Label, row.Pattern, got, want[level])
			}
			for _, c := range english(test).stripFigure("x").Charts {
				for _, m := range c.Marks {
					if strings.HasPrefix(m.Title, row.Pattern+",") && m.Series != want[level] {
						t.Errorf("%s: a trial of %s has the colour %d", test.Label, row.Pattern, m.Series)
					}
				}
			}
		}
	}
	if got := r.Tests[0].hues.of([]measure.Level{{Factor: "zone", Value: "1"}}); got != 0 {
		t.Errorf("a pattern without the factor has the colour %d", got)
	}
}

func TestFactorsOfTooManyLevelsTogetherShareColours(t *testing.T) {
	by := func(name string, n int) design {
		return design{factors: []string{name}, levels: [][]string{numbered(name, n)}, rounds: 2, noise: 0.1, bps: func([]string) float64 { return 1e8 }}
	}
	for _, test := range build(t, ofTests(map[string]design{"1": by("a", 5), "2": by("b", 4)})).Tests {
		if row := test.Rows[3]; test.hues.of(row.Levels) != 3 {
			t.Errorf("%s has the colour %d", row.Pattern, test.hues.of(row.Levels))
		}
	}
}

func TestFactorsOfManyLevelsHaveOneColour(t *testing.T) {
	d := design{factors: []string{"sku", "disk"}, levels: [][]string{numbered("s", 9), numbered("d", 10)}, rounds: 2, noise: 0.1, bps: func([]string) float64 { return 1e8 }}
	test := build(t, d.input()).test(t, "tcp")
	for _, row := range test.Rows {
		if test.hues.factor != "" || test.hues.of(row.Levels) != 0 {
			t.Fatalf("%s has the colour %d of %q", row.Pattern, test.hues.of(row.Levels), test.hues.factor)
		}
	}
}

func TestCurvesOfOneColourHaveDifferentDashes(t *testing.T) {
	test := Test{hues: hues{"sku", map[string]int{"a": 0, "b": 1}}}
	var rows []*Row
	for i := range mostCurves {
		rows = append(rows, &Row{Pattern: fmt.Sprint(i), Levels: []measure.Level{{Factor: "sku", Value: []string{"a", "b", "b"}[i%3]}}})
	}
	seen := map[[2]int]bool{}
	for i, dash := range english(&test).dashes(rows) {
		line := [2]int{test.hues.of(rows[i].Levels), dash}
		if seen[line] || dash < 0 || dash >= outline.Hues {
			t.Errorf("curve %d has the colour and dashes %v again", i, line)
		}
		seen[line] = true
	}
	if dashes := english(&test).dashes(rows[:2]); slices.Equal(dashes, []int{0, 0}) {
		t.Error("curves differ in colour alone")
	}
}
