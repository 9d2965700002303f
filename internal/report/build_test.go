package report

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/report/outline"
	"soku/internal/text"
)

func build(t *testing.T, in Input) *Report {
	t.Helper()
	r, err := Build(in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *Report) test(t *testing.T, label string) *Test {
	t.Helper()
	for i := range r.Tests {
		if r.Tests[i].Label == label {
			return &r.Tests[i]
		}
	}
	t.Fatalf("no test %s in the report", label)
	return nil
}

// english is a test with its texts.
func english(t *Test) testView { return testView{t, text.English()} }

func (t *Test) row(tb testing.TB, pattern string) *Row {
	tb.Helper()
	for i := range t.Rows {
		if strings.HasPrefix(t.Rows[i].Pattern, pattern) {
			return &t.Rows[i]
		}
	}
	tb.Fatalf("no row %s", pattern)
	return nil
}

// tcpTrial is a plain throughput result in a campaign.
func tcpTrial(pattern string, round int, bps float64) *measure.Result {
	o, _ := option.Effective(option.Defaults(measure.TestTCP), measure.TestTCP)
	return &measure.Result{
		Schema: measure.Schema, ID: fmt.Sprintf("%s-%d-%f", pattern, round, bps), Test: measure.TestTCP, Options: o,
		StartedAt: syntheticStart.Add(time.Duration(round) * time.Minute),
		Trial:     &measure.Trial{Campaign: "c", Pattern: pattern, Label: "tcp", Round: round, Repeat: 1, Levels: []measure.Level{{Factor: "path", Value: pattern}}},
		Summary:   measure.Summary{GoodputBps: bps, Confidence: measure.High},
	}
}

func campaignOf(rounds map[string][]float64) Input {
	in := Input{Campaign: Meta{ID: "c", Name: "c", Seed: 1}}
	for pattern, values := range rounds {
		for i, v := range values {
			in.Results = append(in.Results, tcpTrial(pattern, i+1, v))
		}
	}
	return in
}

func TestRoundsWithAnyNumberPairUp(t *testing.T) {
	in := Input{}
	for _, pattern := range []string{"a", "b"} {
		for i, round := range []int{3, math.MaxInt32, -7} {
			drift := float64(i) * 50e6
			v := 100e6 + drift
			if pattern == "b" {
				v += 5e6 + float64(i)*1e4
			}
			in.Results = append(in.Results, tcpTrial(pattern, round, v))
		}
	}
	test := build(t, in).Tests[0]
	if test.Rounds != 3 || !strings.HasPrefix(english(&test).answer(), "b is fastest") {
		t.Errorf("%d rounds: %+v", test.Rounds, test.Answer)
	}
}

func TestNoResultsIsNotFound(t *testing.T) {
	if _, err := Build(Input{}); measure.KindOf(err) != measure.KindNotFound {
		t.Errorf("%v", err)
	}
}

// texts are the cells of a table.
func texts(t outline.Table) [][]string {
	out := make([][]string, len(t.Rows))
	for i, r := range t.Rows {
		for _, c := range r.Cells {
			out[i] = append(out[i], c.Text)
		}
	}
	return out
}

// headings are the names of a table's columns.
func headings(t outline.Table) (out []string) {
	for _, c := range t.Columns {
		out = append(out, c.Name)
	}
	return out
}
