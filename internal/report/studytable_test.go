package report

import (
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/report/outline"
	"soku/internal/text"
)

func TestAPivotHasEachPatternInOneCellInTheOrderOfThePlan(t *testing.T) {
	in := fourPatterns().input()
	for _, p := range fourPatterns().patterns {
		in.Patterns = append(in.Patterns, []measure.Level{{Factor: "gateway SKU", Value: p.sku}, {Factor: "zone", Value: p.zone}})
	}
	whole := build(t, in)
	r, err := whole.Pivoted("zone, gateway SKU")
	if err != nil {
		t.Fatal(err)
	}
	test := testView{&r.Tests[0], text.English()}
	table := test.study().table()
	columns, rows := headings(table), texts(table)
	want := []string{"zone"}
	for _, p := range fourPatterns().patterns {
		want = append(want, p.sku)
	}
	if !slices.Equal(columns, want) || len(rows) != 4 || rows[0][0] != "none" || rows[3][0] != "3" {
		t.Errorf("%q %q", columns, rows)
	}
	for i, row := range rows {
		figures := slices.DeleteFunc(slices.Clone(row[1:]), func(cell string) bool { return cell == text.Absent })
		if len(figures) != 1 || row[1+i] == text.Absent {
			t.Errorf("row %d: %q", i, row)
		}
	}
	if whole.Tests[0].pivot != nil || written(t, r.JSON) != written(t, whole.JSON) || written(t, r.CSV) != written(t, whole.CSV) {
		t.Error("a pivot changes the report that it was made of, or its documents")
	}
	for _, form := range []string{"html", "md", "txt"} {
		if got := written(t, forms(r)[form]); !strings.Contains(got, "Goodput (Mbit/s) by zone and gateway SKU") {
			t.Errorf("%s has no table", form)
		}
	}
}

// shownTable is the first table of a test.
func shownTable(t *testing.T, test *Test) (heading string, table outline.Table) {
	t.Helper()
	for _, b := range (&Report{Tests: []Test{*test}}).outline(text.English(), false).Sections[0].Blocks {
		if b.Place == outline.Lead && len(b.Tables) > 0 {
			return b.Heading, b.Tables[0]
		}
	}
	t.Fatal("no table")
	return "", outline.Table{}
}

func TestTheFirstTableHasTheShapeOfTheDesign(t *testing.T) {
	three := tunnels(6)
	three.factors, three.levels = append([]string{"site"}, three.factors...), append([][]string{{"east", "west"}}, three.levels...)
	inner := three.bps
	three.bps = func(l []string) float64 { return inner(l[1:]) }
	sparse := fourPatterns().input()
	for name, c := range map[string]struct {
		in       Input
		label    string
		question string
		heading  string
		columns  []string
		rows     int
	}{
		"one factor":                       {design{factors: []string{"gateway"}, levels: [][]string{{"a", "b"}}, rounds: 3, noise: 0.01, bps: func([]string) float64 { return 1e8 }}.input(), "tcp", "", "Figures", []string{"gateway"}, 2},
		"two factors":                      {tunnels(6).input(), "tcp", "", "Goodput (Mbit/s) by gateway and streams; • among the best", []string{"gateway", "1", "4", "16"}, 4},
		"two factors, the first asked for": {tunnels(6).input(), "tcp", "gateway", "Goodput (Mbit/s) by streams and gateway; • among the best", []string{"streams", "basic", "high", "standard", "ultra"}, 3},
		"three factors":                    {three.input(), "tcp", "gateway", "Goodput (Mbit/s) by site and gateway, with streams 16; • among the best", []string{"site", "basic", "high", "standard", "ultra"}, 2},
		"two levels asked for":             {three.input(), "tcp", "site", "Goodput (Mbit/s) by gateway and site, with streams 16; • among the best", []string{"gateway", "east", "west", "ratio"}, 4},
		"few combinations":                 {sparse, "tcp", "", "Goodput (Mbit/s) by gateway SKU and zone; • among the best", []string{"gateway SKU", "zone", "goodput", "× best"}, 4},
		"a search":                         {searchedGateways(), "tcp", "", "Goodput (Mbit/s) by", nil, 0},
		"pairs of hosts":                   {couples().input(), "tcp", "", "What contention costs", nil, 0},
		"a curve":                          {streamSweep("1").input(), "tcp", "", "Goodput over streams", nil, 0},
	} {
		c.in.Design.Question = c.question
		heading, table := shownTable(t, build(t, c.in).test(t, c.label))
		if !strings.HasPrefix(heading, c.heading) {
			t.Errorf("%s: %q", name, heading)
		}
		if got := headings(table); c.columns != nil && (!slices.Equal(got[:min(len(got), len(c.columns))], c.columns) || len(table.Rows) != c.rows) {
			t.Errorf("%s: %q, %d rows", name, got, len(table.Rows))
		}
	}
}

func TestTheFirstTableMarksTheBestAndHasTheRatioOfTwoLevels(t *testing.T) {
	in := design{
		factors: []string{"disk", "acceleration"}, levels: [][]string{{"hdd", "ssd"}, {"off", "on"}}, rounds: 6, noise: 0.001,
		bps: func(l []string) float64 { return map[string]float64{"off": 1e8, "on": 3e8}[l[1]] },
	}.input()
	in.Design.Question = "acceleration"
	_, table := shownTable(t, build(t, in).test(t, "tcp"))
	for _, r := range table.Rows {
		if off, on, ratio := r.Cells[1], r.Cells[2], r.Cells[3]; off.Best || !on.Best || on.Marked() != "• "+on.Text || *ratio.Value < 2.9 || *ratio.Value > 3.1 {
			t.Errorf("%+v", r.Cells)
		}
	}
}

func TestTextIsBriefUnlessAskedFor(t *testing.T) {
	r := build(t, tunnels(6).input())
	brief, full := written(t, forms(r.Brief())["txt"]), written(t, forms(r)["txt"])
	_, section, _ := strings.Cut(brief, "tcp: ")
	section, _, _ = strings.Cut(section, "Further findings")
	if lines := strings.Count(section, "\n"); lines > 24 || !strings.Contains(brief, "Gateway ultra is fastest") || !strings.Contains(brief, "by gateway and streams") || !strings.Contains(brief, "--full") {
		t.Errorf("%d lines:\n%s", lines, brief)
	}
	if strings.Contains(brief, "Ranking by") || !strings.Contains(full, "Ranking by") || strings.Contains(full, "--full") {
		t.Errorf("brief:\n%s\nfull:\n%s", brief, full)
	}
	if written(t, forms(r.Brief())["md"]) != written(t, forms(r)["md"]) {
		t.Error("other formats are shorter, too")
	}
}

func TestAReportOfAnEmulatedNetworkSaysSo(t *testing.T) {
	for _, emulated := range []bool{false, true} {
		in := tunnels(3).input()
		in.Design.Emulated = emulated
		r := build(t, in)
		for _, form := range []string{"html", "md", "txt"} {
			if got := written(t, forms(r)[form]); strings.Contains(got, "measured in an emulated network") != emulated {
				t.Errorf("%s, emulated %v", form, emulated)
			}
		}
	}
}

// The order of an ingested table is that of its rows, not that of the alphabet.
func TestLevelsAreInTheOrderOfTheIngestedTable(t *testing.T) {
	in := tunnels(1).input()
	for i, r := range in.Results {
		r.Origin = &measure.Origin{Format: "csv", Record: len(in.Results) - i}
	}
	test := build(t, in).test(t, "tcp")
	if first, last := test.Rows[0].Pattern, test.Rows[len(test.Rows)-1].Pattern; first != "ultra / 16" || last != "basic / 1" {
		t.Errorf("from %s to %s", first, last)
	}
}

func TestAQuestionThatNoTestHasIsRefused(t *testing.T) {
	r := build(t, tunnels(3).input())
	for question, ok := range map[string]bool{"gateway": true, measure.QuestionLimit: true, "colour": false} {
		if err := r.CheckQuestion(question); (err == nil) != ok || err != nil && measure.KindOf(err) != measure.KindUsage {
			t.Errorf("%s: %v", question, err)
		}
	}
}

func TestTheHeadlineIsWhatIsAskedInsteadOfAFactor(t *testing.T) {
	for question, c := range map[string]struct {
		in   Input
		code AnswerCode
		says string
	}{
		measure.QuestionLimit:      {streamsOverGateways(), AnswerLimit, "of the published limit"},
		measure.QuestionContention: {couples().input(), AnswerContention, "Running all pairs concurrently"},
		measure.QuestionPatterns:   {tunnels(6).input(), "", "Ultra / 16 is fastest"},
	} {
		c.in.Design.Question = question
		test := &build(t, c.in).Tests[0]
		if said := english(test).sentences()[0]; !strings.Contains(said, c.says) || (test.Headline == nil) != (c.code == "") || test.Headline != nil && test.Headline.Code != c.code {
			t.Errorf("%s: %q", question, said)
		}
	}
	in := tunnels(6).input()
	in.Design.Question = measure.QuestionPatterns
	if said := english(build(t, in).test(t, "tcp")).sentences()[1]; !strings.HasPrefix(said, "In order: ultra / 16 7") {
		t.Error(said)
	}
}
