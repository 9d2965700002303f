package report

import (
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/report/outline"
	"soku/internal/report/plot"
	"soku/internal/text"
)

func TestPatternsWithFailedOrMissingTrialsAreDrawnByRound(t *testing.T) {
	whole := design{factors: []string{"gateway"}, levels: [][]string{{"a", "b", "c"}}, rounds: 6, noise: 0.01, bps: func([]string) float64 { return 1e8 }}.input()
	figure := func(in Input) (testView, bool) {
		test := english(&build(t, in).Tests[0])
		return test, test.coverageFigure("t1") != nil
	}
	if _, drawn := figure(whole); drawn {
		t.Error("a chart of a campaign whose trials all succeeded")
	}
	in := whole
	in.Results = slices.DeleteFunc(slices.Clone(whole.Results), func(r *measure.Result) bool { // one missing
		return r.Trial.Round == 3 && r.Trial.Levels[0].Value == "b"
	})
	for _, r := range in.Results { // two failed
		if r.Trial.Round > 4 && r.Trial.Levels[0].Value == "c" {
			r.Error = measure.TextError(measure.KindRefused, "refused", "")
		}
	}
	test, drawn := figure(in)
	if !drawn {
		t.Fatal("no chart")
	}
	if got, want := texts(test.coverageTable()), [][]string{{"c", "4", "2", "0"}, {"b", "5", "0", "1"}}; !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%q, want %q", got, want)
	}
	p := test.coveragePlot(test.coverages(), plot.Wide)
	var failed, ran []string
	for _, b := range p.Bands {
		if strings.HasSuffix(b.Title, "failed") {
			failed = append(failed, b.Title)
		} else {
			ran = append(ran, b.Title)
		}
	}
	if want := []string{"c, round 5: failed", "c, round 6: failed"}; !slices.Equal(failed, want) || len(ran) != 9 || slices.Contains(ran, "b, round 3: succeeded") {
		t.Errorf("failed %q, succeeded %q", failed, ran)
	}
	if page := written(t, forms(build(t, in))["html"]); !strings.Contains(page, "Trials that failed or are missing") {
		t.Error("the page has no chart")
	}
}

// A level that was added to the plan has no trials before: they are not missing.
func TestRoundsBeforeALevelWasAddedAreNotMissing(t *testing.T) {
	in := design{factors: []string{"gateway"}, levels: [][]string{{"a", "b", "added"}}, rounds: 6, noise: 0.01, bps: func([]string) float64 { return 1e8 }}.input()
	in.Results = slices.DeleteFunc(in.Results, func(r *measure.Result) bool { return r.Trial.Levels[0].Value == "added" && r.Trial.Round < 4 })
	test := build(t, in).Tests[0]
	if got := test.coverages(); len(test.later) != 1 || len(got) != 0 {
		t.Errorf("later %+v, missing %+v", test.later, got)
	}
}

// Of very many rounds several share a cell, which shows the failed one.
func TestManyRoundsShareACell(t *testing.T) {
	c := coverage{Row: &Row{Pattern: "a", Failed: 1}, rounds: make([]roundCoverage, 1000)}
	for i := range c.rounds {
		c.rounds[i].ran = 1
	}
	c.rounds[500].failed = 1
	p := testView{&Test{Rows: []Row{*c.Row}}, text.English()}.coveragePlot([]coverage{c}, plot.Narrow)
	if len(p.Bands) > int(plot.Narrow/coverageCell) || !slices.ContainsFunc(p.Bands, func(b outline.Shape) bool { return strings.HasSuffix(b.Title, "failed") }) {
		t.Errorf("%d cells", len(p.Bands))
	}
}
