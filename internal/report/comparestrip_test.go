package report

import (
	"bytes"
	"encoding/csv"
	"io"
	"math"
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

func TestMeansAreDrawnOnOneAxis(t *testing.T) {
	c := compared(t, map[string][]float64{"a": {90, 100, 110}, "b": {199, 200, 201}, "c": {150}, "wild": {50, 450}}, "a", "b", "c", "wild")
	d := comparedView{c, &c.Tests[0], text.English()}.dots()
	if len(d.Rows) != 4 || d.Rows[1].Name != "b" || math.Abs(d.Rows[1].Value-200e6) > 1e4 || !math.IsNaN(d.Rows[2].Low) {
		t.Errorf("%+v", d.Rows)
	}
	if wild := d.Rows[3]; d.Low < 0 || wild.Low < 0 || wild.High <= d.High || d.High < 201e6 || !strings.Contains(d.HighText, "Mbit/s") {
		t.Errorf("the axis has %v to %v (%s to %s), the widest %+v", d.Low, d.High, d.LowText, d.HighText, wild)
	}
	same := compared(t, map[string][]float64{"a": {100, 100}, "b": {100, 100}}, "a", "b")
	if d := (comparedView{same, &same.Tests[0], text.English()}).dots(); !(d.Low < d.Rows[0].Value && d.Rows[0].Value < d.High) {
		t.Errorf("equal means lie at %v of %v to %v", d.Rows[0].Value, d.Low, d.High)
	}
}

func TestComparisonsAreWrittenAsMarkdownAndCSV(t *testing.T) {
	c := compared(t, map[string][]float64{"a": {99, 100, 101, 99, 100, 101}, "=b|": {199, 200, 201, 199, 200, 201}}, "a", "=b|")
	c.Failed = []FailedChoice{{"gone", 2, measure.Fail(measure.KindUnreachable, "dial.refused", measure.Figures{"address": "192.0.2.1:7658"})}}
	md := written(t, func(w io.Writer) error { return c.Markdown(w, text.English()) })
	for _, want := range []string{"## tcp: goodput, higher is better\n\n| choice | goodput", `| =b\| | `, `- =b\| is better than a: goodput 2.0 × as high`, "gone: each of its 2 trials failed"} {
		if !strings.Contains(md, want) {
			t.Errorf("no %q in\n%s", want, md)
		}
	}
	rows, err := csv.NewReader(bytes.NewBufferString(written(t, c.CSV))).ReadAll()
	if err != nil || len(rows) != 2 || rows[1][4] != "'=b|" || rows[1][5] != "a" || !strings.HasPrefix(rows[1][10], "2") || rows[1][15] != "better" {
		t.Errorf("%q %v", rows, err)
	}
}
