package report

import (
	"slices"
	"testing"

	"soku/internal/measure"
)

func overBaseline(t *testing.T, in Input, levels ...measure.Level) *Test {
	t.Helper()
	r, err := build(t, in).WithBaseline(levels)
	if err != nil {
		t.Fatal(err)
	}
	return &r.Tests[0]
}

// column are the texts or notes of a column.
func column(t *testing.T, test *Test, name string) (texts, notes []string) {
	t.Helper()
	_, table := shownTable(t, test)
	i := slices.Index(headings(table), name)
	if i < 0 {
		t.Fatalf("no column %q: %q", name, headings(table))
	}
	for _, r := range table.Rows {
		texts, notes = append(texts, r.Cells[i].Text), append(notes, r.Cells[i].Note)
	}
	return texts, notes
}

func TestFiguresStandOverThoseOfTheBaseline(t *testing.T) {
	exact := func(factors []string, levels [][]string, bps func([]string) float64) Input {
		return design{factors: factors, levels: levels, rounds: 6, noise: 1e-6, bps: bps}.input()
	}
	gateway := map[string]float64{"basic": 1e8, "high": 2.5e8, "ultra": 5e8}
	one := exact([]string{"gateway"}, [][]string{{"basic", "high", "ultra"}}, func(l []string) float64 { return gateway[l[0]] })
	sites := exact([]string{"gateway", "site"}, [][]string{{"basic", "high", "ultra"}, {"east", "west"}}, func(l []string) float64 {
		if l[1] == "west" {
			return gateway[l[0]] * 2
		}
		return gateway[l[0]]
	})
	high, west := measure.Level{Factor: "gateway", Value: "high"}, measure.Level{Factor: "site", Value: "west"}
	got, _ := column(t, overBaseline(t, one), "× best")
	if want := []string{"0.2000", "0.5000", "1.000"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	got, _ = column(t, overBaseline(t, one, high), "× gateway high")
	if want := []string{"0.4000", "1.000", "2.000"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	_, got = column(t, overBaseline(t, sites, high), "west")
	if want := []string{"0.400 ×", "1.00 ×", "2.00 ×"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	got, notes := column(t, overBaseline(t, sites, west), "ratio")
	if want := []string{"0.5000", "0.5000", "0.5000"}; !slices.Equal(got, want) || notes[0] != "" {
		t.Errorf("%q, want %q", got, want)
	}
	_, got = column(t, overBaseline(t, sites, high, west), "east")
	if want := []string{"0.200 ×", "0.500 ×", "1.000 ×"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if heading, _ := shownTable(t, overBaseline(t, sites, high)); heading != "Goodput (Mbit/s) by gateway and site, and × gateway high; • among the best" {
		t.Errorf("%q", heading)
	}
	for name, levels := range map[string][]measure.Level{
		"no factor":       {{Factor: "zone", Value: "1"}},
		"no level":        {{Factor: "gateway", Value: "huge"}},
		"no such pattern": {high, {Factor: "site", Value: "north"}},
		"one no factor":   {high, {Factor: "zone", Value: "1"}},
	} {
		if _, err := build(t, sites).WithBaseline(levels); measure.KindOf(err) != measure.KindUsage {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestABaselineLeavesTheReportItWasMadeOf(t *testing.T) {
	whole := build(t, tunnels(6).input())
	before := written(t, forms(whole)["html"])
	if _, err := whole.WithBaseline([]measure.Level{{Factor: "gateway", Value: "basic"}}); err != nil {
		t.Fatal(err)
	}
	if written(t, forms(whole)["html"]) != before {
		t.Error("the report changed")
	}
}
