package cli

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/report"
)

const casesDir = "../../examples/cases"

// publishedFigure is one figure of a published table and where a report must have it.
type publishedFigure struct {
	column  string // of the published table
	label   string
	factors map[string]string
	csv     string // column of the report's CSV
	json    string // key of the figure in the report's JSON
	end     string // of the spread: mean, min or max
	table   string // column of the report's table without its unit
	base    float64
	rebuild func(base float64) string // as the study wrote it; nil for a plain number
}

// caseTable says how a published table comes out of a report.
type caseTable struct {
	study    string // its folder, and the campaign
	name     string
	results  int
	patterns int
	factors  map[string]string // column of the table -> factor
	figures  func(row map[string]string) []publishedFigure
}

func caseTables() []caseTable {
	throughput := func(column, label string, unit float64, extra map[string]string) func(map[string]string) publishedFigure {
		return func(row map[string]string) publishedFigure {
			return publishedFigure{column: column, label: label, factors: extra, csv: "goodput_mean_bps", json: "goodput_bps", end: "mean", table: "goodput", base: atof(row[column]) * unit}
		}
	}
	all := func(list ...func(map[string]string) publishedFigure) func(map[string]string) []publishedFigure {
		return func(row map[string]string) (out []publishedFigure) {
			for _, f := range list {
				out = append(out, f(row))
			}
			return out
		}
	}
	meanOfPing := func(column, iface string) func(map[string]string) publishedFigure {
		return func(row map[string]string) publishedFigure {
			return publishedFigure{column: column, label: "ping", factors: map[string]string{"interface": iface}, csv: "rtt_reported_mean_ns", json: "rtt_reported_mean_ns", end: "mean", table: "mean", base: atof(row[column]) * 1e6}
		}
	}
	limit := func(column string, unit float64, extra map[string]string) func(map[string]string) publishedFigure {
		return func(row map[string]string) publishedFigure {
			return publishedFigure{column: column, label: "throughput", factors: extra, csv: "limit", json: "limit", table: "limit", base: atof(row[column]) * unit}
		}
	}
	end := func(column, label, csvColumn, which string) func(map[string]string) publishedFigure {
		return func(row map[string]string) publishedFigure {
			return publishedFigure{column: column, label: label, csv: csvColumn, json: "rtt_reported_mean_ns", end: which, table: "run means", base: atof(row[column]) * 1e6}
		}
	}
	return []caseTable{
		{"vm-bandwidth-cap", "vm-bandwidth-cap", 11, 11, map[string]string{
			"path": "path", "gateway_sku": "gateway SKU", "circuit_mbps": "circuit (Mbit/s)", "parallel": "streams",
		}, all(throughput("mbit_per_second", "throughput", 1e6, nil), limit("published_limit_mbps", 1e6, nil))},
		{"expressroute-latency", "expressroute-latency", 40, 10, map[string]string{
			"sku": "gateway SKU", "fastpath": "FastPath", "gateway_zone": "gateway zone", "vm_zone": "VM zone",
		}, all(
			end("run60_low_ms", "one run of 60 s", "rtt_reported_mean_low_ns", "min"), end("run60_high_ms", "one run of 60 s", "rtt_reported_mean_high_ns", "max"),
			end("repeat_low_ms", "runs of 10 s", "rtt_reported_mean_low_ns", "min"), end("repeat_high_ms", "runs of 10 s", "rtt_reported_mean_high_ns", "max"),
		)},
		{"interface-matrix", "interface-matrix-throughput", 27, 27, map[string]string{"instance_type": "instance type"}, all(
			limit("published_gbps", 1e9, map[string]string{"interface": "VLAN"}),
			throughput("public_ip_gbps", "throughput", 1e9, map[string]string{"interface": "public IP"}),
			throughput("vlan_gbps", "throughput", 1e9, map[string]string{"interface": "VLAN"}),
			throughput("vpc_gbps", "throughput", 1e9, map[string]string{"interface": "VPC"}),
		)},
		{"interface-matrix", "interface-matrix-ping", 27, 27, map[string]string{"instance_type": "instance type"}, all(
			meanOfPing("public_ip_ms", "public IP"), meanOfPing("vlan_ms", "VLAN"), meanOfPing("vpc_ms", "VPC"),
		)},
		{"accelerated-networking", "accelerated-networking-throughput", 2, 2, map[string]string{"accelerated_networking": "accelerated networking"}, all(
			throughput("mbit_per_second", "throughput", 1e6, nil), throughput("megabytes_per_second", "throughput", 8e6, nil),
		)},
		{"accelerated-networking", "accelerated-networking-copy", 6, 6, map[string]string{"accelerated_networking": "accelerated networking", "disk": "disk", "files": "files"},
			func(row map[string]string) []publishedFigure {
				minutes, secs, _ := strings.Cut(row["duration"], ":")
				s := atof(minutes)*60 + atof(secs)
				return []publishedFigure{
					{column: "duration", label: "file copy", csv: "duration_mean_ns", json: "duration_ns", end: "mean", table: "time", base: s * 1e9, rebuild: func(ns float64) string {
						return fmt.Sprintf("%d:%02d", int(ns/1e9)/60, int(ns/1e9)%60)
					}},
					// The amount comes back as goodput times the published duration.
					{column: "total_gb", label: "file copy", csv: "goodput_mean_bps", json: "goodput_bps", end: "mean", table: "goodput", base: atof(row["total_gb"]) * 8e9 / s},
				}
			}},
	}
}

func atof(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	return v
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance*math.Abs(b) }

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

func compareRow(t *testing.T, c caseTable, row map[string]string, figures []map[string]string, doc *report.Report, markdown map[string][]map[string]string) int {
	t.Helper()
	factors := map[string]string{}
	used := append(slices.Collect(maps.Keys(c.factors)), "pattern") // which numbers the rows
	for column, factor := range c.factors {
		factors[factor] = row[column]
	}
	n := 0
	for _, f := range c.figures(row) {
		used = append(used, f.column)
		levels := maps.Clone(factors)
		maps.Copy(levels, f.factors)
		check := func(form string, got, tolerance float64) {
			if !near(got, f.base, tolerance) {
				t.Errorf("%s, %v: %s in %s is %v, published %v", c.name, levels, f.column, form, got, f.base)
			}
			if f.rebuild != nil && f.rebuild(got) != row[f.column] {
				t.Errorf("%s, %v: %s in %s is %s, published %s", c.name, levels, f.column, form, f.rebuild(got), row[f.column])
			}
			n++
		}
		if r := pickRow(figures, f.label, levels, "factor_"); r == nil {
			t.Fatalf("%s: no row %v in the CSV", c.name, levels)
		} else {
			check("the CSV", atof(r[f.csv]), 1e-9)
		}
		check("the JSON", jsonFigure(t, doc, f, levels), 1e-12)
		if r := pickRow(markdown[f.label], "", levels, ""); r == nil {
			t.Fatalf("%s: no row %v in the Markdown", c.name, levels)
		} else {
			check("the Markdown", tableFigure(t, r, f), 2e-4) // four digits of a goodput that is no round number
		}
	}
	for column := range row {
		if !slices.Contains(used, column) {
			t.Errorf("%s: column %s was not compared", c.name, column)
		}
	}
	return n
}

func jsonFigure(t *testing.T, doc *report.Report, f publishedFigure, levels map[string]string) float64 {
	t.Helper()
	for _, test := range doc.Tests {
		for _, r := range test.Rows {
			match := test.Label == f.label
			for _, l := range r.Levels {
				match = match && levels[l.Factor] == l.Value
			}
			if l := r.Limit(measure.MetricGoodput); match && f.json == "limit" && l != nil {
				return l.Value
			}
			if s := r.Figure(f.json); match && s != nil {
				return map[string]float64{"mean": s.Mean, "min": s.Min, "max": s.Max}[f.end]
			}
		}
	}
	t.Fatalf("no row %v in the JSON", levels)
	return 0
}

// pickRow is the row whose cells have these levels.
func pickRow(rows []map[string]string, label string, levels map[string]string, prefix string) map[string]string {
	for _, r := range rows {
		match := label == "" || r["label"] == label
		for name, value := range levels {
			match = match && r[prefix+name] == value
		}
		if match {
			return r
		}
	}
	return nil
}

func records(t *testing.T, text string) []map[string]string {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, cells := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = cells[i]
		}
		out = append(out, row)
	}
	return out
}

// markdownTables are the tables of figures of a report by the label of their test.
func markdownTables(text string) map[string][]map[string]string {
	out := map[string][]map[string]string{}
	label := ""
	var names []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if heading := regexp.MustCompile(`^## (.*?)( \(|:)`).FindStringSubmatch(line); heading != nil {
			label, names = heading[1], nil
		}
		if name, ok := strings.CutPrefix(line, "### "); ok {
			label, names = "", nil
			if test, ok := strings.CutSuffix(name, ": figures"); ok {
				label = test
			}
		}
		if !strings.HasPrefix(line, "| ") || label == "" {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case names == nil:
			names = cells
		case strings.HasPrefix(cells[0], "---"):
		default:
			row := map[string]string{}
			for i, n := range names {
				row[n] = cells[i]
			}
			out[label] = append(out[label], row)
		}
	}
	return out
}

// tableFigure reads a cell such as "2.790 to 2.950" under "run means (ms)".
func tableFigure(t *testing.T, row map[string]string, f publishedFigure) float64 {
	t.Helper()
	units := map[string]float64{"bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "s": 1e9, "ms": 1e6, "µs": 1e3, "ns": 1}
	for name, cell := range row {
		unit, ok := strings.CutPrefix(name, f.table+" (")
		if !ok {
			continue
		}
		low, high, ranged := strings.Cut(cell, " to ")
		if ranged && f.end == "max" {
			low = high
		}
		return atof(low) * units[strings.TrimSuffix(unit, ")")]
	}
	t.Fatalf("no column %s in %v", f.table, row)
	return 0
}
