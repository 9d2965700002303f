package cli

import (
	"encoding/csv"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure/metric"
	"soku/internal/report"
)

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
			if l := r.Limit(metric.Goodput); match && f.json == "limit" && l != nil {
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
		name, ok := strings.CutPrefix(line, "### ")
		if folded, is := strings.CutPrefix(line, "<details><summary>"); is {
			name, ok = strings.TrimSuffix(folded, "</summary>"), true
		}
		if ok {
			label, names = "", nil
			if test, ok := strings.CutSuffix(name, ": Figures"); ok {
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
