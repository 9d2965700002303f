package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
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

// inPatterns is a choice with patterns 0, 1 and so on of a factor size, whose goodput is that many
// Mbit/s times the factor of each.
func inPatterns(name string, mbits float64, rounds int, factors ...float64) *Choice {
	c := NewChoice(name, nil)
	for size, factor := range factors {
		for round := 1; round <= rounds; round++ {
			noise := 1 + 0.001*float64((round*7+size*3+len(name)*3)%5)
			r := tcpTrial(name, round, mbits*1e6*factor*noise)
			r.ID = fmt.Sprint(name, size, r.ID)
			r.Trial.Levels = []measure.Level{{Factor: "side", Value: name}, {Factor: "size", Value: fmt.Sprint(size)}}
			r.Trial.Pattern = measure.JoinLevels(r.Trial.Levels)
			c.Add(r)
		}
	}
	return c
}

func shownText(t *testing.T, c *Comparisons, full bool) string {
	t.Helper()
	return written(t, func(w io.Writer) error { return c.Text(w, text.English(), 100, full) })
}

func changed(t *testing.T, choices ...*Choice) *Comparisons {
	t.Helper()
	c, err := Compare(choices, CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestComparisonsBeginWithOneSentenceOnAllPatterns(t *testing.T) {
	c := changed(t, inPatterns("before", 100, 8, 1, 1, 1, 1), inPatterns("after", 100, 8, 1.2, 1.3, 1, 0.9))
	out := shownText(t, c, false)
	want := "Over 4 patterns, after carried 1.089 × the goodput of before (95 % interval 1.088 to 1.089): 2 better, 1 worse, 1 the same, 0 not told apart."
	if lines := strings.SplitAfterN(out, "\n", 2); !strings.HasPrefix(strings.Join(strings.Fields(lines[1]), " "), want) {
		t.Errorf("not %q in\n%s", want, out)
	}
	if strings.Contains(out, "p below") || !strings.Contains(shownText(t, c, true), "p below 0.0001, 8 rounds compared pairwise") {
		t.Errorf("each comparison is for --full:\n%s", out)
	}
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"overall":[{"test":"tcp","label":"tcp"`, `"a":"after","b":"before","ratio":1.08`, `"shown":true,"patterns":4,"rounds":8,"better":2,"worse":1,"same":1,"not_shown":0}]`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in %s", want, b)
		}
	}
}

func TestNoMoreIsClaimedOverallThanIsShown(t *testing.T) {
	for want, c := range map[string]*Comparisons{
		"Over 2 patterns, no overall difference is shown: after carried 0.9997 × the goodput of before (95 % interval 0.9997 to 1.001); 0 better": changed(t, inPatterns("before", 100, 8, 1, 1), inPatterns("after", 100, 8, 1.0004, 1)),
		"Over 2 patterns in 4 rounds, too few to decide, after carried 1.200 × the goodput of before":                                             changed(t, inPatterns("before", 100, 4, 1, 1), inPatterns("after", 100, 4, 1.2, 1.2)),
		"2 not told apart (of these, better in every round: 2, worse: 0).":                                                                        changed(t, inPatterns("before", 100, 4, 1, 1), inPatterns("after", 100, 4, 1.2, 1.2)),
		"Over 2 patterns, after carried 1.20 × the goodput of before, not tested: 0 better, 0 worse":                                              changed(t, inPatterns("before", 100, 1, 1, 1), inPatterns("after", 100, 1, 1.2, 1.2)),
		"In 8 rounds, after carried 1.199 × the goodput of before (95 % interval 1.196 to 1.202) and is better.":                                  changed(t, inPatterns("before", 100, 8, 1), inPatterns("after", 100, 8, 1.2)),
		"(95 % interval 0.9970 to 1.002); a difference of 2 % or more is ruled out.":                                                              changed(t, inPatterns("before", 100, 8, 1), inPatterns("after", 100, 8, 1)),
		"In 4 rounds, too few to decide, after carried 0.500 × the goodput of before (95 %":                                                       changed(t, inPatterns("before", 100, 4, 1), inPatterns("after", 50, 4, 1)),
		"In 8 rounds of each, no difference is shown: after carried 1.01 × the goodput of before (95 % interval 0.969":                            nil,
	} {
		if c == nil {
			wide := func(name string, values ...float64) *Choice { return choose(name, name, nil, values...) }
			c = changed(t, wide("before", 100, 95, 105, 103, 97, 100, 101, 99), wide("after", 103, 97, 106, 96, 100, 108, 101, 97))
		}
		if out := strings.Join(strings.Fields(shownText(t, c, false)), " "); !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestPatternsWithoutARatioHaveNoOverallRatio(t *testing.T) {
	c := changed(t, inPatterns("before", 100, 6, 1, 1), inPatterns("after", 100, 6, 1.2, 1.2))
	v := c.familyViews(text.English())[0]
	o := ComparedOverall{A: "after", B: "before", NotShown: 2}
	if got := v.overall(o); got != "There is no ratio between after and before: in every pattern the goodput of a round is 0." {
		t.Error(got)
	}
	o.Patterns, o.Ratio, o.Low, o.High = 1, 1.2, 1.1, 1.3
	if got := v.overall(o); !strings.HasSuffix(got, "2 not told apart, 1 of them without a ratio.") {
		t.Error(got)
	}
}

func TestATerminalHasThePatternsWithTheLargestChanges(t *testing.T) {
	var before, after []float64
	for i := range 40 {
		before, after = append(before, 1), append(after, 1+0.01*float64(i))
	}
	c := changed(t, inPatterns("before", 100, 6, before...), inPatterns("after", 100, 6, after...))
	out := shownText(t, c, false)
	if lines := strings.Count(out, "\n"); lines > 45 || !strings.Contains(out, "The 30 of 40 rows with the largest changes; 10 are left out, --full shows them.") {
		t.Errorf("%d lines:\n%s", lines, out)
	}
	row := func(out, size string) bool { return strings.Contains(out, "\n  "+size+" ") }
	if row(out, "9 ") || !row(out, "10") || !row(out, "39") {
		t.Errorf("not the largest changes:\n%s", out)
	}
	if out := shownText(t, c, true); !row(out, "9 ") {
		t.Errorf("not all rows:\n%s", out)
	}
	page := written(t, func(w io.Writer) error { return c.HTML(w, text.English()) })
	if n := strings.Count(page, `class="dot`); n != 2*2*mostCompared {
		t.Errorf("%d dots of two choices in two widths, want %d", n, 2*2*mostCompared)
	}
	if n := strings.Count(page, `<th scope="row"`); n != 40 {
		t.Errorf("a page has %d rows", n)
	}
}

func TestChoicesOfOneCampaignAreCalledByTheirLevels(t *testing.T) {
	for want, names := range map[string][2]string{
		"Old: sku=a; new: sku=b":           {"c:sku=a", "c:sku=b"},
		"Old: c:sku=a; new: d:sku=a":       {"c:sku=a", "d:sku=a"},
		"Old: x h:1 -w=1; new: x h:1 -w=2": {"x h:1 -w=1", "x h:1 -w=2"},
	} {
		out := shownText(t, changed(t, inPatterns(names[0], 100, 6, 1), inPatterns(names[1], 110, 6, 1)), false)
		if !strings.Contains(out, want+"\n") {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestIntervalsWithoutWidthAreNotShown(t *testing.T) {
	c := compared(t, map[string][]float64{"a": {100, 100, 100, 100, 100, 100}, "b": {120, 120, 120, 120, 120, 120}}, "a", "b")
	if out := shownText(t, c, false); strings.Contains(out, " to ") || strings.Contains(out, "95 % interval") || !strings.Contains(out, "1.20 × the goodput of a and is better") {
		t.Error(out)
	}
}

func TestComparisonsAreWrittenAsMarkdownAndCSV(t *testing.T) {
	c := compared(t, map[string][]float64{"a": {99, 100, 101, 99, 100, 101}, "=b|": {199, 200, 201, 199, 200, 201}}, "a", "=b|")
	c.Failed = []FailedChoice{{"gone", 2, measure.Fail(measure.KindUnreachable, "dial.refused", measure.Figures{"address": "192.0.2.1:7658"})}}
	md := written(t, func(w io.Writer) error { return c.Markdown(w, text.English()) })
	for _, want := range []string{"## tcp: goodput, higher is better\n\n**In 6 rounds, =b\\| carried 2.00 × the goodput of a", "| old | new | change (×) | interval (×) | decision |", " | 200.0 | 2.00 | 1.99 to 2.01 | better |", `- =b\| is better than a: goodput 2.0 × as high`, "gone: each of its 2 trials failed"} {
		if !strings.Contains(md, want) {
			t.Errorf("no %q in\n%s", want, md)
		}
	}
	rows, err := csv.NewReader(bytes.NewBufferString(written(t, c.CSV))).ReadAll()
	if err != nil || len(rows) != 2 || rows[1][4] != "'=b|" || rows[1][5] != "a" || !strings.HasPrefix(rows[1][10], "2") || rows[1][15] != "better" {
		t.Errorf("%q %v", rows, err)
	}
}

func TestEveryPairHasItsSentenceAndItsRow(t *testing.T) {
	c := compared(t, map[string][]float64{"a": {99, 100, 101}, "b": {199, 200, 201}, "<c>": {299, 300, 301}}, "a", "b", "<c>")
	out := strings.Join(strings.Fields(shownText(t, c, false)), " ")
	for _, want := range []string{"<c> carried 3.00 × the goodput of a", "<c> carried 1.50 × the goodput of b", "choice / against", "<c> / b 200.0 300.0 1.50"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if page := written(t, func(w io.Writer) error { return c.HTML(w, text.English()) }); strings.Contains(page, "<c>") || !strings.Contains(page, "<h1>Comparison of a, b and &lt;c&gt;</h1>") {
		t.Error(page)
	}
}
