package report

import (
	"encoding/csv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/metric"
)

// trialRow is a row of the CSV of trials, by the names of its columns.
type trialRow map[string]string

func trialRows(t *testing.T, r *Report) []trialRow {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(written(t, r.TrialsCSV))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []trialRow
	for _, record := range records[1:] {
		row := trialRow{}
		for i, name := range records[0] {
			row[name] = record[i]
		}
		out = append(out, row)
	}
	return out
}

func TestTheCSVOfTrialsHasEveryFigureOfEveryTrial(t *testing.T) {
	in := campaignWithFailure()
	rows := trialRows(t, build(t, in))
	i := 0
	byResult := map[string][]trialRow{}
	for _, row := range rows {
		byResult[row["result"]] = append(byResult[row["result"]], row)
	}
	for _, r := range in.Results {
		got := map[string]string{}
		for _, row := range byResult[r.ID] {
			i++
			if row["label"] != r.Trial.Label || row["test"] != string(r.Test) || row["factor_zone"] != r.Trial.Levels[1].Value ||
				row["round"] != strconv.Itoa(r.Trial.Round) || row["repeat"] != "1" || row["client"] != "office" || row["server"] != r.Path.Server.Name+".private" {
				t.Errorf("%s has the row %v", r.ID, row)
			}
			got[row["metric"]] = row["value"]
			if r.Error != nil && (row["error"] != r.Error.Message || row["value"] != "") {
				t.Errorf("a failed trial has the row %v", row)
			}
		}
		want := map[string]string{}
		if r.Error != nil {
			want[""] = ""
		} else {
			for _, f := range metric.Of(r.Test).Families {
				for _, m := range f.Metrics {
					if v, found := m.Value(r); found {
						want[m.Key] = exact(v)
					}
				}
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s has %v, want %v", r.ID, got, want)
		}
	}
	if i != len(rows) {
		t.Errorf("%d rows are of no trial", len(rows)-i)
	}
}

func TestTrialsAreNamedByTheEndpointsAndTheRunOfTheirPlan(t *testing.T) {
	in := fourPatterns().input()
	for _, r := range in.Results {
		r.Trial.Pair = &measure.Pair{Server: measure.Endpoint{Name: "vm2", Label: "vlan"}}
		r.Trial.Session = &measure.Session{ID: "b7", Number: 2}
	}
	for _, row := range trialRows(t, build(t, in)) {
		if row["client"] != "office" || row["server"] != "vm2.vlan" || row["session"] != "b7" {
			t.Fatalf("%v", row)
		}
	}
}

func TestTextsOfTrialsAreNoFormulas(t *testing.T) {
	in := fourPatterns().input()
	const formula = "=HYPERLINK(\"x\")"
	for _, r := range in.Results {
		r.ID, r.Trial.Session = formula+r.ID, &measure.Session{ID: formula}
		r.Path.Client.Name = formula
		r.Trial.Levels[0].Value = formula + r.Trial.Levels[0].Value
	}
	failed(in.Results[0])
	in.Results[0].Error.Message = formula
	for _, row := range trialRows(t, build(t, in)) {
		for name, cell := range row {
			if strings.HasPrefix(cell, "=") {
				t.Fatalf("formula in %s: %q", name, cell)
			}
		}
	}
}

func TestTheCSVOfPatternsHasTheirRanges(t *testing.T) {
	r := build(t, graded(8, 6, 0.006))
	records, err := csv.NewReader(strings.NewReader(written(t, r.CSV))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	first := slices.Index(records[0], "rank_low")
	if want := []string{"ingested", "rank_low", "rank_high", "best", "letters"}; first < 1 || !slices.Equal(records[0][first-1:first+4], want) {
		t.Fatalf("the columns are %v", records[0])
	}
	for i, row := range r.Tests[0].Rows {
		p := r.Tests[0].place(row.Pattern)
		want := []string{strconv.Itoa(p.RankLow), strconv.Itoa(p.RankHigh), strconv.FormatBool(p.Best), p.Letters}
		if got := records[i+1][first : first+4]; !slices.Equal(got, want) || p.RankLow == 0 {
			t.Errorf("%s has %v, want %v", row.Pattern, got, want)
		}
	}
}
