package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"soku/internal/report"
)

func TestPublishedTablesComeBackOutOfReportsOfIngestedFigures(t *testing.T) {
	for _, c := range caseTables() {
		t.Run(c.name, func(t *testing.T) {
			store := filepath.Join(t.TempDir(), "soku.db")
			file := filepath.Join(casesDir, c.study, c.name+".csv")
			if out, errs, code := soku(t, "ingest", "--store", store, "--map", filepath.Join(casesDir, c.study, c.name+".yaml"), file); code != 0 {
				t.Fatalf("ingest: %d %s %s", code, out, errs)
			}
			form := func(name string) string {
				out, errs, code := soku(t, "report", c.study, "--store", store, "--format", name)
				if code != 0 {
					t.Fatalf("report: %s", errs)
				}
				return out
			}
			var doc report.Report
			if err := json.Unmarshal([]byte(form("json")), &doc); err != nil {
				t.Fatal(err)
			}
			if doc.Ingested != c.results || doc.Trials != c.results || doc.Failed != 0 {
				t.Errorf("%d trials, %d of them ingested and %d failed; want %d", doc.Trials, doc.Ingested, doc.Failed, c.results)
			}
			for _, test := range doc.Tests {
				if len(test.Rows) != c.patterns || len(test.Ranking) != c.patterns {
					t.Errorf("%s: %d rows and %d places, want %d patterns", test.Label, len(test.Rows), len(test.Ranking), c.patterns)
				}
			}
			figures, markdown := records(t, form("csv")), markdownTables(form("md"))
			published, _ := os.ReadFile(file)
			compared := 0
			for _, row := range records(t, string(published)) {
				compared += compareRow(t, c, row, figures, &doc, markdown)
			}
			if compared == 0 {
				t.Error("nothing was compared")
			}
			t.Logf("%d figures, each in three forms", compared)
		})
	}
}

// The commands of a study's README, in its folder, read all its tables into one campaign, and
// every form of its report can be written.
func TestTheReadmeOfEachStudyReadsItsFiguresAndReports(t *testing.T) {
	for study, results := range map[string]int{
		"expressroute-latency": 40, "vpn-active-active": 20, "accelerated-networking": 8, "vm-bandwidth-cap": 11, "interface-matrix": 54,
	} {
		t.Run(study, func(t *testing.T) {
			folder, store := filepath.Join(casesDir, study), filepath.Join(t.TempDir(), "soku.db")
			readme, err := os.ReadFile(filepath.Join(folder, "README.md"))
			if err != nil {
				t.Fatal(err)
			}
			if lines := bytes.Count(readme, []byte("\n")); lines > 40 {
				t.Errorf("%d lines are more than a screen", lines)
			}
			commands := 0
			for _, found := range regexp.MustCompile(`(?m)^    soku (.*)$`).FindAllSubmatch(readme, -1) {
				args := append(words(string(found[1])), "--store", store)
				for i, arg := range args {
					if strings.HasSuffix(arg, ".csv") {
						args[i] = withFigures(t, filepath.Join(folder, arg))
					} else if strings.HasSuffix(arg, ".yaml") {
						args[i] = filepath.Join(folder, arg)
					}
				}
				if out, errs, code := soku(t, args...); code != 0 || out == "" {
					t.Fatalf("%s: %d %s", found[1], code, errs)
				}
				commands++
			}
			for _, form := range []string{"txt", "md", "html", "csv", "json"} {
				out, errs, code := soku(t, "report", study, "--store", store, "--format", form)
				if code != 0 || len(out) < 500 {
					t.Errorf("report in %s: %d %s, %d bytes", form, code, errs, len(out))
				}
				var doc report.Report
				if form == "json" && (json.Unmarshal([]byte(out), &doc) != nil || doc.Trials != results) {
					t.Errorf("%d trials, want %d", doc.Trials, results)
				}
			}
			if commands < 2 {
				t.Errorf("%d commands", commands)
			}
		})
	}
}

func TestThePlansOfTheStudiesAreAccepted(t *testing.T) {
	plans, err := filepath.Glob(filepath.Join(casesDir, "*", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	accepted := 0
	for _, plan := range plans {
		if base := filepath.Base(plan); base != "plan.yaml" && base != "cloud.yaml" {
			continue
		}
		var doc struct{ Campaign string }
		out, errs, code := soku(t, "plan", plan, "--json", "--store", filepath.Join(t.TempDir(), "soku.db"))
		if code != 0 || json.Unmarshal([]byte(out), &doc) != nil || doc.Campaign == "" {
			t.Errorf("%s: %d %s %+v", plan, code, errs, doc)
		}
		accepted++
	}
	if accepted != 10 {
		t.Errorf("%d plans of 5 studies, each for the lab and for the cloud", accepted)
	}
}

// words are those of a command line; single quotes keep a word with spaces together.
func words(line string) (out []string) {
	for _, word := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(line, -1) {
		out = append(out, strings.Trim(word, "'"))
	}
	return out
}

// withFigures is a table, or, of one whose cells are empty, a copy that has figures.
func withFigures(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(text, []byte(",\n")) {
		return path
	}
	filled := filepath.Join(t.TempDir(), filepath.Base(path))
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for i := range lines[1:] {
		lines[1+i] += fmt.Sprint(100 + i)
	}
	if err := os.WriteFile(filled, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return filled
}

func TestATableWhoseFiguresWereNotPublishedIsNotIngested(t *testing.T) {
	table := filepath.Join(casesDir, "vpn-active-active", "vpn-active-active")
	out, errs, code := soku(t, "ingest", "--store", filepath.Join(t.TempDir(), "soku.db"), "--map", table+".yaml", table+".csv")
	if code != 3 || !strings.Contains(errs, "no row of the table has a figure") {
		t.Errorf("%d %s %s", code, out, errs)
	}
}
