package report

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"soku/internal/measure"
)

func TestTestsComeInThePlansOrder(t *testing.T) {
	in := fourPatterns().input()
	for _, r := range in.Results {
		r.Trial.Label = map[measure.Test]string{measure.TestTCP: "b", measure.TestLatency: "c"}[r.Test]
		if r.Test == measure.TestTCP && r.Trial.Round == 1 {
			r.Trial.Label = "a"
		}
	}
	labels := func() (out []string) {
		for _, x := range build(t, in).Tests {
			out = append(out, x.Label)
		}
		return out
	}
	if got := labels(); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("without a plan the tests are %q", got)
	}
	in.Tests = []string{"c", "b"}
	if got := labels(); !slices.Equal(got, []string{"c", "b", "a"}) {
		t.Errorf("tests are %q", got)
	}
}

func TestRowsComeInThePlansOrder(t *testing.T) {
	in := fourPatterns().input()
	names := func(order []string) (out []string) {
		in.Patterns = nil
		for _, name := range order {
			levels := []measure.Level{{Factor: "sku", Value: name}}
			for _, r := range in.Results {
				if r.Trial.Pattern == name {
					levels = r.Trial.Levels
				}
			}
			in.Patterns = append(in.Patterns, levels)
		}
		for _, row := range build(t, in).Tests[0].Rows {
			out = append(out, row.Pattern)
		}
		return out
	}
	sorted := names(nil)
	order := []string{sorted[2], "not run yet", sorted[0]}
	if got, want := names(order), []string{sorted[2], sorted[0], sorted[1], sorted[3]}; !slices.Equal(got, want) {
		t.Errorf("in the order of %q: rows %q, want %q", order, got, want)
	}
}

func TestTheOrderOfResultsDoesNotMatter(t *testing.T) {
	in := campaignWithFailure()
	write := func() string {
		var b bytes.Buffer
		if err := build(t, in).JSON(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	want := write()
	rand.New(rand.NewPCG(3, 3)).Shuffle(len(in.Results), func(i, j int) { in.Results[i], in.Results[j] = in.Results[j], in.Results[i] })
	in.Results = append(in.Results, in.Results[5], nil) // stored twice
	if write() != want {
		t.Error("another order or a repeated result changes the report")
	}
}

func TestNaturalOrder(t *testing.T) {
	list := []string{"P16", "P2", "P02a", "VpnGw10", "VpnGw1", "P"}
	slices.SortFunc(list, natural)
	if want := []string{"P", "P2", "P02a", "P16", "VpnGw1", "VpnGw10"}; !slices.Equal(list, want) {
		t.Errorf("%v", list)
	}
}
