package cli

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"soku/internal/report"
)

const factorialMapping = `
campaign: factorial
factors: {sku: {column: sku}, zone: {column: zone}, streams: {column: streams}}
round: {column: round}
session: {column: day}
results:
  - {test: tcp, label: throughput, figures: {goodput: {column: mbps, unit: Mbit/s}}}
`

// reportOf ingests a table with a mapping and returns the report as a document and as text.
func reportOf(t *testing.T, mapping, table string) (*report.Report, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"m.yaml": mapping, "t.csv": table} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	store := filepath.Join(dir, "soku.db")
	if _, errs, code := soku(t, "ingest", "--store", store, "--map", filepath.Join(dir, "m.yaml"), filepath.Join(dir, "t.csv")); code != 0 {
		t.Fatalf("ingest: %d %s", code, errs)
	}
	doc := new(report.Report)
	out, errs, code := soku(t, "report", "factorial", "--store", store, "--format", "json")
	if err := json.Unmarshal([]byte(out), doc); code != 0 || err != nil {
		t.Fatalf("report: %d %s %v", code, errs, err)
	}
	text, _, _ := soku(t, "report", "factorial", "--store", store, "--full")
	return doc, text
}

func caveats(test report.Test) (codes []report.CaveatCode) {
	for _, c := range test.Caveats {
		codes = append(codes, c.Code)
	}
	return codes
}

// The variation between rounds, which all patterns share, is far larger than the difference
// between patterns: only a comparison within rounds shows it.
func TestRoundsOfATableArePairedInTheReport(t *testing.T) {
	var rows []string
	for round := 1; round <= 8; round++ {
		for i, sku := range []string{"A", "B", "C"} {
			for j, zone := range []string{"1", "2"} {
				for _, streams := range []int{1, 16} {
					mbps := 100 * float64(round) * (1 - 0.02*float64(i)) * (1 - 0.03*float64(j)) * (1 + 0.1*float64(streams)/16) * (1 + 0.0002*float64(round%3))
					rows = append(rows, fmt.Sprintf("%s,%s,%d,%d,Mon,%.3f", sku, zone, streams, round, mbps))
				}
			}
		}
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	doc, text := reportOf(t, factorialMapping, "sku,zone,streams,round,day,mbps\n"+strings.Join(rows, "\n")+"\n")
	test := doc.Tests[0]
	if doc.Trials != 96 || len(test.Rows) != 12 || test.Rounds != 8 || test.Rows[0].Trials != 8 {
		t.Fatalf("%d trials, %d rows, %d rounds", doc.Trials, len(test.Rows), test.Rounds)
	}
	if a := test.Answer; a.Code != report.AnswerBest || a.Rounds != 8 || a.First[0].Pattern != "A / 1 / 16" {
		t.Errorf("%+v", a)
	}
	if got := caveats(test); slices.Contains(got, report.CaveatOrderUnknown) || !slices.Contains(got, report.CaveatOrderStated) {
		t.Errorf("%v", got)
	}
	if !strings.Contains(strings.Join(strings.Fields(text), " "), "shown by 8 rounds") {
		t.Errorf("%s", text)
	}
}

func TestSessionsOfATableAreNotComparedAsInterleaved(t *testing.T) {
	table := "sku,zone,streams,round,day,mbps\n"
	for round := 1; round <= 6; round++ {
		table += fmt.Sprintf("A,1,1,%d,Monday,%d\nB,1,1,%d,Tuesday,%d\n", round, 100+round, round, 200+round)
	}
	doc, text := reportOf(t, factorialMapping, table)
	test := doc.Tests[0]
	if test.Answer.Code != report.AnswerBestOtherRun || test.Rounds != 12 || !slices.Contains(caveats(test), report.CaveatDifferentRuns) {
		t.Errorf("%+v, %d rounds, %v", test.Answer, test.Rounds, caveats(test))
	}
	if runs := test.Runs; len(runs) != 2 || runs[0].Session != "Monday" || runs[1].Session != "Tuesday" {
		t.Errorf("%+v", runs)
	}
	if flat := strings.Join(strings.Fields(text), " "); !strings.Contains(flat, "which run measured what run trials patterns Monday 6 A / 1 / 1 Tuesday 6 B / 1 / 1") || strings.Contains(flat, "run 1 ") {
		t.Errorf("%s", text)
	}
}
