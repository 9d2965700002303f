package report

import (
	"bytes"
	"encoding/csv"
	"io"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/text"
)

// compared are comparisons of choices with these goodputs in Mbit/s, one a round.
func compared(t *testing.T, choices map[string][]float64, names ...string) *Comparisons {
	t.Helper()
	var all []*Choice
	for _, name := range names {
		c := NewChoice(name, nil)
		for round, mbits := range choices[name] {
			r := tcpTrial(name, round+1, mbits*1e6)
			r.ID = name + r.ID
			c.Add(r)
		}
		all = append(all, c)
	}
	out, err := Compare(all, CompareOptions{AllPairs: true})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAChartInTextHasEachMeanOnOneAxis(t *testing.T) {
	c := compared(t, map[string][]float64{"a": {90, 100, 110}, "b": {199, 200, 201}, "c": {150}, "wild": {50, 450}}, "a", "b", "c", "wild")
	v := comparedView{c, &c.Tests[0], text.English()}
	lines := v.strip(60)
	if len(lines) != 5 {
		t.Fatalf("%q", lines)
	}
	at := map[byte]int{}
	for i, name := range "abcw" {
		if lines[i][0] != byte(name) {
			t.Fatalf("%q", lines)
		}
		at[byte(name)] = strings.IndexRune(lines[i], '●')
		at[byte(name)] = len([]rune(lines[i][:at[byte(name)]]))
	}
	if at['a'] >= at['c'] || at['c'] >= at['b'] || at['c'] != at['w'] {
		t.Errorf("the means are at %v:\n%s", at, strings.Join(lines, "\n"))
	}
	for i, marks := range []string{"├┤", "●", "●", "├▸"} { // b is narrower than a column, wild wider than the axis
		for _, m := range marks {
			if !strings.ContainsRune(lines[i], m) {
				t.Errorf("no %c in %q", m, lines[i])
			}
		}
	}
	if strings.ContainsAny(lines[2], "├┤─") {
		t.Errorf("one round has an interval: %q", lines[2])
	}
	if axis := lines[4]; !strings.Contains(axis, "Mbit/s") || strings.HasPrefix(strings.TrimSpace(axis), "-") {
		t.Errorf("the axis is %q", axis)
	}
	for width := range 60 {
		for _, line := range v.strip(width) {
			if columnsOf(line) > width {
				t.Errorf("%d columns: %q", width, line)
			}
		}
	}
	same := compared(t, map[string][]float64{"a": {100, 100}, "b": {100, 100}}, "a", "b")
	if lines := (comparedView{same, &same.Tests[0], text.English()}).strip(60); strings.IndexRune(lines[0], '●') != strings.IndexRune(lines[1], '●') {
		t.Errorf("%q", lines)
	}
}

func TestComparisonsAreWrittenAsMarkdownAndCSV(t *testing.T) {
	c := compared(t, map[string][]float64{"a": {99, 100, 101, 99, 100, 101}, "=b|": {199, 200, 201, 199, 200, 201}}, "a", "=b|")
	c.Failed = []FailedChoice{{"gone", 2, measure.Fail(measure.KindUnreachable, "dial.refused", measure.Figures{"address": "192.0.2.1:7658"})}}
	md := written(t, func(w io.Writer) error { return c.Markdown(w, text.English()) })
	for _, want := range []string{"### tcp: goodput, higher is better\n\n| choice | goodput", `| =b\| | `, `- =b\| is better than a: goodput 2.0 × as high`, "gone: each of its 2 trials failed"} {
		if !strings.Contains(md, want) {
			t.Errorf("no %q in\n%s", want, md)
		}
	}
	rows, err := csv.NewReader(bytes.NewBufferString(written(t, c.CSV))).ReadAll()
	if err != nil || len(rows) != 2 || rows[1][4] != "'=b|" || rows[1][5] != "a" || !strings.HasPrefix(rows[1][10], "2") || rows[1][15] != "better" {
		t.Errorf("%q %v", rows, err)
	}
}
