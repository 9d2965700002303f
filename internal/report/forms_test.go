package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/metric"
	"soku/internal/text"
)

var update = flag.Bool("update", false, "write the golden files anew")

func forms(r *Report) map[string]func(io.Writer) error {
	return map[string]func(io.Writer) error{
		"html": inEnglish(r.HTML), "md": inEnglish(r.Markdown), "csv": r.CSV, "json": r.JSON,
		"txt": func(w io.Writer) error { return r.Text(w, text.English(), 80) },
	}
}

func written(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// inEnglish writes a form for people in English.
func inEnglish(write func(io.Writer, *text.Catalogue) error) func(io.Writer) error {
	return func(w io.Writer) error { return write(w, text.English()) }
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	file = filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("%s differs; see it with: go test ./internal/report -update && git diff\n%s", file, got)
	}
}

func TestFormsAreAsRecorded(t *testing.T) {
	s := fourPatterns()
	s.udp, s.seconds = true, 4
	in := s.input()
	failed(in.Results[4])
	r := build(t, in)
	for _, form := range []string{"md", "csv"} {
		golden(t, "campaign."+form, written(t, forms(r)[form]))
	}
	for _, width := range []int{60, 80, 140} {
		golden(t, "campaign-"+map[int]string{60: "060", 80: "080", 140: "140"}[width]+".txt", written(t, func(w io.Writer) error { return r.Text(w, text.English(), width) }))
	}
}

// A message without its key or its arguments is shown as both.
func TestNoFormShowsAKeyOfTheCatalogue(t *testing.T) {
	for name, in := range map[string]Input{
		"every test": everyTest(), "failures": campaignWithFailure(), "load": loaded(fourPatterns().input(), 16, 0.4),
		"one trial": {Results: fourPatterns().input().Results[:1]}, "one of each kind": {Results: fourPatterns().input().Results[:2]},
		"ingested": ingestedInput(map[string][]*measure.RTTFigures{"A": {figuresOf(11e3, 10e3, 20e3)}}),
	} {
		for i, r := range in.Results {
			r.Summary.Confidence = []measure.Confidence{measure.High, measure.Medium, measure.Low}[i%3]
		}
		for form, write := range forms(build(t, in)) {
			out := written(t, write)
			if i := strings.Index(out, "map["); i >= 0 {
				t.Errorf("%s, %s: %s", name, form, out[max(i-80, 0):min(i+80, len(out))])
			}
		}
	}
}

func TestTextFitsTheTerminal(t *testing.T) {
	s := fourPatterns()
	s.udp, s.seconds = true, 4
	in := loaded(s.input(), 16, 0.4)
	failed(in.Results[4])
	in.Results[0].Findings = measure.OfSentences([]string{strings.Repeat("ながい警告", 60), "a" + strings.Repeat("b", 300)})
	r := build(t, in)
	for width := 40; width <= 200; width += 7 {
		for _, line := range strings.Split(written(t, func(w io.Writer) error { return r.Text(w, text.English(), width) }), "\n") {
			if n := text.Terminal.StringWidth(line); n > width {
				t.Errorf("%d columns on a terminal of %d: %s", n, width, line)
			}
		}
	}
}

// hostile is a report whose every text from outside tries to be markup.
func hostile(t *testing.T, evil string) *Report {
	t.Helper()
	s := fourPatterns()
	s.seconds = 2
	in := s.input()
	in.Campaign.Title, in.Campaign.Name, in.Campaign.ID, in.Campaign.Plan = evil, evil, evil, evil
	for i, r := range in.Results {
		r.Trial.Pattern = evil + r.Trial.Pattern
		r.Trial.Label = evil + string(r.Test)
		for j := range r.Trial.Levels {
			r.Trial.Levels[j].Factor += evil
			r.Trial.Levels[j].Value += evil
		}
		r.Findings = measure.Findings{
			measure.TextFinding(evil), {Code: finding.Code(evil), Severity: finding.Severity(evil), Where: measure.Where(evil), Figures: measure.Figures{evil: evil}},
			measure.NewFinding(finding.ReceiverDisagrees, measure.Where(evil), measure.Figures{"sent_bytes": evil}),
		}
		r.Path.Client.Name, r.Hosts.Client.Facts.Hostname, r.Hosts.Client.Facts.CPUModel = evil, evil, evil
		r.Hosts.Client.Facts.Sysctl = map[string]string{evil: evil}
		r.Tool.Version, r.Options.Device, r.Options.Congestion = evil, evil, evil
		if r.Latency != nil {
			r.Latency.Timing = &measure.Timing{Loop: evil, Clock: evil, Wait: evil, Socket: evil}
		}
		switch i {
		case 3:
			r.Error = measure.TextError(measure.Kind(evil), evil, evil)
		case 4:
			r.Error = measure.Fail(measure.KindBroken, "server.here", measure.Figures{"cause": measure.TextError(measure.KindBroken, evil, evil)})
		case 5:
			r.Error = &measure.Error{Code: "server.max_duration.ended", Message: evil, Figures: measure.Figures{"limit_ns": evil}, HintCode: evil}
		}
	}
	return build(t, in)
}

func TestTextsFromOutsideAreNoMarkupInHTML(t *testing.T) {
	page := written(t, inEnglish(hostile(t, `<script>alert(1)</script><img src=x onerror=alert(1)>"' onload="x" </title></style></svg>{{.}}`).HTML))
	for _, bad := range []string{"<script", "<img", `" onload`, "</svg>{"} {
		if strings.Contains(page, bad) {
			t.Errorf("%q is in the page", bad)
		}
	}
	if n := strings.Count(page, "<style>"); n != 1 || strings.Count(page, "</style>") != 1 {
		t.Errorf("%d style elements", n)
	}
}

func TestTextsFromOutsideAreNoMarkupInMarkdown(t *testing.T) {
	out := written(t, inEnglish(hostile(t, "a|b\n# h <b> [x](http://evil.example) `c` @everyone https://evil.example www.evil.example ```\n~~~ *s* _e_").Markdown))
	fence := regexp.MustCompile("(?m)^(`{3,})yaml$").FindStringSubmatch(out)
	if fence == nil || len(fence[1]) < 4 {
		t.Fatalf("the plan can close its own code block: %v", fence)
	}
	prose, _, _ := strings.Cut(out, fence[0])
	for _, bad := range []string{"http://", "https://", "www.", "@everyone", "<b", "b>", "[x](", "\n# h", "`c`"} {
		if strings.Contains(prose, bad) {
			t.Errorf("%q is in the page", bad)
		}
	}
	columns := 0
	for _, line := range strings.Split(prose, "\n") {
		if !strings.HasPrefix(line, "| ") {
			columns = 0
			continue
		}
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if columns != 0 && n != columns {
			t.Errorf("a row of %d cells in a table of %d: %s", n-1, columns-1, line)
		}
		columns = n
	}
}

func TestTextsFromOutsideCannotSteerATerminal(t *testing.T) {
	r := hostile(t, "\x1b[2J\x07\u202eevil\u2066\r\n\u009b31m")
	for _, form := range []string{"txt", "md", "csv"} {
		out := written(t, forms(r)[form])
		if strings.ContainsAny(out, "\x1b\x07\r\u202e\u2066\u009b") {
			t.Errorf("%s has control characters: %q", form, out[:200])
		}
	}
	if page := written(t, inEnglish(r.HTML)); strings.ContainsAny(page, "\x1b\u202e") {
		t.Error("html has control characters")
	}
}

func TestCellsAreNoFormulas(t *testing.T) {
	records, err := csv.NewReader(strings.NewReader(written(t, hostile(t, "=HYPERLINK(\"x\")").CSV))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range records {
		for _, cell := range line {
			if strings.HasPrefix(cell, "=") {
				t.Errorf("formula %q", cell)
			}
		}
	}
	for in, want := range map[string]string{"-4": "-4", "+1.5": "+1.5", "-x": "'-x", "@a": "'@a", "a=b": "a=b", "": "", "＝x": "'＝x"} {
		if got := csvText(in); got != want {
			t.Errorf("%q becomes %q", in, got)
		}
	}
}

func TestCSVHasOneRowAPatternAndTest(t *testing.T) {
	records, err := csv.NewReader(strings.NewReader(written(t, build(t, campaignWithFailure()).CSV))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != 1+8 {
		t.Errorf("%d lines", len(records))
	}
	seen := map[string]bool{}
	for _, name := range records[0] {
		if seen[name] {
			t.Errorf("two columns %s", name)
		}
		seen[name] = true
	}
	for _, want := range []string{"factor_zone", "goodput_mean_bps", "rtt_p99_9_ns", "floor_mean_ns"} {
		if !seen[want] {
			t.Errorf("no column %s", want)
		}
	}
}

func TestCSVHasTheColumnsThatHaveAFigure(t *testing.T) {
	r := build(t, campaignWithFailure())
	records, err := csv.NewReader(strings.NewReader(written(t, r.CSV))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var known []string
	for _, f := range append(patternFields(r.factors()), rowFields()...) {
		known = append(known, f.column)
	}
	for i, name := range records[0] {
		if !slices.ContainsFunc(records[1:], func(row []string) bool { return row[i] != "" }) {
			t.Errorf("%s is empty in all rows", name)
		}
		at := slices.Index(known, name)
		if at < 0 {
			t.Fatalf("%s is unknown, or not in the order of the format", name)
		}
		known = known[at+1:]
		base, ok := strings.CutSuffix(name, "_mbps")
		unit := "_bps"
		if !ok {
			base, ok = strings.CutSuffix(name, "_ms")
			unit = "_ns"
		}
		if ok && records[0][i-1] != base+unit {
			t.Errorf("%s is not next to %s%s", name, base, unit)
		}
		for _, row := range records[1:] {
			if v, err := strconv.ParseFloat(row[i], 64); ok && err == nil {
				if of, _ := strconv.ParseFloat(row[i-1], 64); math.Abs(v*1e6-of) > 1e-8*of {
					t.Errorf("%s is %s, and %s is %s", name, row[i], records[0][i-1], row[i-1])
				}
			}
		}
	}
	for _, want := range []string{"goodput_mean_mbps", "rtt_p50_ms"} {
		if !slices.Contains(records[0], want) {
			t.Errorf("no column %s", want)
		}
	}
	if slices.Contains(records[0], "loss_mean_ratio") {
		t.Error("loss has a column, and no test measured it")
	}
	by := campaignWithFailure()
	by.Campaign.ID = ""
	if head, _, _ := strings.Cut(written(t, build(t, by).CSV), ","); head != "campaign" {
		t.Errorf("the first column is %q", head)
	}
}

func TestJSONReadsBack(t *testing.T) {
	r := build(t, campaignWithFailure())
	var back Report
	if err := json.Unmarshal([]byte(written(t, r.JSON)), &back); err != nil {
		t.Fatal(err)
	}
	if back.Schema != "soku.report/1" || len(back.Tests) != 2 || back.Campaign.Seed != 42 {
		t.Errorf("%+v", back)
	}
	row := back.test(t, "latency").Rows[0]
	if h, p99 := row.Histogram(metric.RoundTrips), row.Figure("rtt_p99_ns"); h.Percentile(99) != int64(p99.Value) {
		t.Errorf("the histogram's p99 is %d, the row's %v", h.Percentile(99), p99.Value)
	}
}

func TestThePageIsSelfContained(t *testing.T) {
	page := written(t, inEnglish(build(t, campaignWithFailure()).HTML))
	for _, pattern := range []string{`https?://`, `src=`, `@import`, `url\(`, `<script`, `<link[^>]*href="[^d]`} {
		if found := regexp.MustCompile(pattern).FindString(page); found != "" {
			t.Errorf("the page has %q", found)
		}
	}
	if len(page) > 400_000 {
		t.Errorf("24 trials make a page of %d bytes", len(page))
	}
}

func TestJapaneseNamesAreCompleteInEveryFormat(t *testing.T) {
	r := build(t, campaignWithFailure())
	for name, write := range forms(r) {
		if !strings.Contains(written(t, write), "高性能ゲートウェイ") {
			t.Errorf("%s lost it", name)
		}
	}
}

func TestAWriterThatFailsIsAnError(t *testing.T) {
	r := build(t, campaignWithFailure())
	for name, write := range forms(r) {
		if write(full{}) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestALargeCampaignMakesAPageOfBoundedSize(t *testing.T) {
	s := fourPatterns()
	s.rounds, s.seconds = 20, 20
	page := written(t, inEnglish(build(t, s.input()).HTML))
	if len(page) > 1_500_000 {
		t.Errorf("160 trials make a page of %d bytes", len(page))
	}
}
