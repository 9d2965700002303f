package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/stats"
	"soku/internal/text"
)

// groupOfValues is a group with one value a round.
func groupOfValues(values []float64) (g stats.Group) {
	for _, v := range values {
		g.Rounds = append(g.Rounds, []float64{v})
	}
	return g
}

func logarithms(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Log(v)
	}
	return out
}

// flat is a text without the ends of its lines.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

// compareOutput is the JSON of soku compare.
type compareOutput struct {
	Schema      string  `json:"schema"`
	Practical   float64 `json:"practical_ratio"`
	Comparisons []struct {
		Test, Label, Metric, A, B, Decision, Reason, Text string
		Levels                                            []measure.Level
		Ratio, Low, High, P                               *float64
		PAdjusted                                         *float64 `json:"p_adjusted"`
		Paired                                            int      `json:"paired_rounds"`
		Apart                                             bool
		More                                              []*int `json:"more_rounds"`
	} `json:"comparisons"`
}

func runCompareCommand(t *testing.T, width int, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	sys, out, errs := fakeSystem(t, append([]string{"compare"}, args...)...)
	sys.StdoutWidth = func() int { return width }
	fillComparable(t, sys)
	code = Run(sys)
	return out.String(), errs.String(), code
}

// compareJSON is the JSON of a command that succeeds.
func compareJSON(t *testing.T, args ...string) (out compareOutput, c comparables) {
	t.Helper()
	sys, stdout, errs := fakeSystem(t, append([]string{"compare", "--json"}, args...)...)
	c = fillComparable(t, sys)
	if code := Run(sys); code != 0 {
		t.Fatalf("status %d, %s", code, errs)
	}
	if err := json.Unmarshal(stdout.Bytes(), &out); err != nil || out.Schema != "soku.compare/1" {
		t.Fatalf("%v in %s", err, stdout)
	}
	return out, c
}

func sameFigure(t *testing.T, what string, got *float64, want float64) {
	t.Helper()
	if got == nil || math.Abs(*got-want) > 1e-9*math.Abs(want) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func TestPatternsOfACampaignAreComparedRoundByRound(t *testing.T) {
	out, c := compareJSON(t, "before:sku=basic,streams=1", "before:sku=ultra,streams=1")
	if len(out.Comparisons) != 2 || out.Practical != 0.02 {
		t.Fatalf("%+v", out)
	}
	for _, got := range out.Comparisons {
		label := got.Label
		ultra, basic := groupOfValues(c.rounds(label, "ultra")), groupOfValues(c.rounds(label, "basic"))
		want := stats.CompareChoices([]stats.ChoicePair{{A: ultra, B: basic}}, label == "up", 0.02)[0]
		plain := stats.Compare(ultra, basic, 0.95)
		if got.Decision != string(want.Decision) || got.A != "before:sku=ultra,streams=1" || got.B != "before:sku=basic,streams=1" || got.Apart || got.Paired != plain.Rounds || got.PAdjusted != nil {
			t.Errorf("%+v, want %s", got, want.Decision)
		}
		sameFigure(t, label+" ratio", got.Ratio, 1+plain.Difference)
		sameFigure(t, label+" low", got.Low, 1+plain.Low)
		sameFigure(t, label+" high", got.High, 1+plain.High)
		sameFigure(t, label+" p", got.P, want.P)
		if len(got.More) != 2 || *got.More[0] != 0 || *got.More[1] != 0 {
			t.Errorf("%s is decided and needs %v more rounds", label, got.More)
		}
	}
	if up, rtt := out.Comparisons[0], out.Comparisons[1]; up.Test != "tcp" || up.Metric != "goodput_bps" || up.Decision != "better" || rtt.Test != "latency" || rtt.Metric != "rtt_p50_ns" || rtt.Decision != "same" {
		t.Errorf("%+v", out.Comparisons)
	}
}

func TestTheSmallestDifferenceThatMattersDecides(t *testing.T) {
	for practical, want := range map[string]stats.Decision{"2%": stats.Same, "0.1%": stats.NotShown, "0.1 %": stats.NotShown} {
		out, c := compareJSON(t, "before:sku=basic,streams=1", "before:sku=basic,streams=8", "--practical", practical)
		got := out.Comparisons[0]
		if got.Decision != string(want) {
			t.Errorf("%s: %+v", practical, got)
		}
		if want == stats.NotShown {
			pair := stats.ChoicePair{A: groupOfValues(c.values["before up basic / 8"]), B: groupOfValues(c.values["before up basic / 1"])}
			further := stats.CompareChoices([]stats.ChoicePair{pair}, true, 0.001)[0].Further()
			if *got.More[0] != further.Least || (got.More[1] == nil) != (further.Most < 0) || got.More[1] != nil && *got.More[1] != further.Most {
				t.Errorf("more rounds %v, want %+v", got.More, further)
			}
		}
	}
}

func TestCampaignsAreComparedUnpairedPatternByPattern(t *testing.T) {
	out, c := compareJSON(t, "before", "after")
	if len(out.Comparisons) != 6 {
		t.Fatalf("%d comparisons, want 4 of up and 2 of rtt", len(out.Comparisons))
	}
	var p, adjusted []float64
	for i, got := range out.Comparisons[:4] {
		levels := []measure.Level{{Factor: "sku", Value: []string{"basic", "basic", "ultra", "ultra"}[i]}, {Factor: "streams", Value: []string{"1", "8", "1", "8"}[i]}}
		if fmt.Sprint(got.Levels) != fmt.Sprint(levels) || !got.Apart || got.Paired != 0 || got.Decision != "better" || got.A != "after" || got.B != "before" {
			t.Errorf("%+v, want levels %v", got, levels)
		}
		group := func(name string) (g stats.Group) {
			for _, v := range c.values[name+" up "+measure.JoinLevels(levels)] {
				g.Rounds = append(g.Rounds, []float64{v})
				n := len(name) // a session of its own
				g.Sessions = append(g.Sessions, []int{n})
			}
			return g
		}
		want := stats.CompareChoices([]stats.ChoicePair{{A: group("after"), B: group("before")}}, true, 0.02)[0]
		sameFigure(t, "p", got.P, want.P)
		sameFigure(t, "ratio", got.Ratio, want.Ratio)
		interval := stats.Compare(group("after"), group("before"), 1-0.05/4)
		sameFigure(t, "low", got.Low, 1+interval.Low)
		sameFigure(t, "high", got.High, 1+interval.High)
		p, adjusted = append(p, *got.P), append(adjusted, *got.PAdjusted)
	}
	for i, want := range stats.HolmAdjusted(p) {
		sameFigure(t, "adjusted p", &adjusted[i], want)
	}
	for _, got := range out.Comparisons[4:] {
		if got.Label != "rtt" || len(got.Levels) != 1 || got.Levels[0].Factor != "sku" || got.Decision != "better" || *got.Ratio > 0.9 {
			t.Errorf("streams set nothing in a latency test, and less is better: %+v", got)
		}
	}
	text, _, _ := runCompareCommand(t, 0, "before", "after")
	if n := strings.Count(flat(text), "Measured in different sessions, so compared unpaired: what changed between the sessions is part"); n != 2 { // once a figure
		t.Errorf("%d times: %s", n, text)
	}
}

func TestEveryPairIsComparedOnRequest(t *testing.T) {
	args := []string{"before:sku=basic,streams=1", "before:sku=basic,streams=8", "before:sku=ultra,streams=1"}
	out, _ := compareJSON(t, append(args, "--all-pairs")...)
	var pairs []string
	var p []float64
	for _, c := range out.Comparisons {
		if c.Label == "up" {
			pairs, p = append(pairs, c.A+" "+c.B), append(p, *c.P)
		}
	}
	if want := []string{args[1] + " " + args[0], args[2] + " " + args[0], args[2] + " " + args[1]}; fmt.Sprint(pairs) != fmt.Sprint(want) {
		t.Errorf("pairs %v, want %v", pairs, want)
	}
	for i, want := range stats.HolmAdjusted(p) {
		sameFigure(t, "adjusted p", out.Comparisons[i].PAdjusted, want)
	}
	out, _ = compareJSON(t, args...)
	for _, c := range out.Comparisons {
		if c.B != args[0] {
			t.Errorf("%s with %s, not with the first", c.A, c.B)
		}
	}
}

func TestAFactorThatSetsNothingInATestSelectsNothingThere(t *testing.T) {
	out, _ := compareJSON(t, "before:streams=1", "before:streams=8")
	for _, c := range out.Comparisons {
		if c.Label != "up" {
			t.Errorf("round trips do not depend on streams, so both choices have the same: %+v", c)
		}
	}
}

func TestOneValueEachIsNotTested(t *testing.T) {
	text, errs, code := runCompareCommand(t, 0, "hand0", "hand1", "--json")
	if code != 0 {
		t.Fatal(errs)
	}
	for _, want := range []string{`"decision": "not_shown"`, `"reason": "one_round"`, `"ratio": 1.0999`, `"apart": true`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	for _, member := range []string{`"low"`, `"high"`, `"p"`, `"p_adjusted"`, `"more_rounds"`} {
		if strings.Contains(text, member) {
			t.Errorf("%s in %s", member, text)
		}
	}
	text, _, _ = runCompareCommand(t, 0, "hand0", "hand1")
	if !strings.Contains(flat(text), "hand1 against hand0: goodput 10.0 % higher, not tested") || strings.Contains(text, "unpaired") {
		t.Error(text)
	}
}

func TestAResultIsComparedWithACampaign(t *testing.T) {
	out, c := compareJSON(t, "hand0", "before:sku=basic,streams=1", "after:sku=basic,streams=1")
	if len(out.Comparisons) != 2 || out.Comparisons[0].Test != "tcp" || out.Comparisons[0].Reason != "one_round" {
		t.Fatalf("%+v", out)
	}
	sameFigure(t, "ratio", out.Comparisons[0].Ratio, math.Exp(stats.Mean(logarithms(c.values["before up basic / 1"])))/100e6)
}

func TestLastIsTheNewestResultOrItsCampaign(t *testing.T) {
	sys, out, errs := fakeSystem(t, "compare", "hand-latency", "last")
	c := fillComparable(t, sys)
	if code := Run(sys); code != 2 || !strings.Contains(errs.String(), "results in common") {
		t.Errorf("the newest was run by hand: status %d, %s", code, errs)
	}
	s, err := openStore(t.Context(), sys, "")
	if err != nil {
		t.Fatal(err)
	}
	c.store = s
	c.campaign("newest", 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, last := range []string{"last", "last:sku=basic"} {
		out.Reset()
		sys.Args = []string{"compare", "before:sku=basic", last}
		if code := Run(sys); code != 0 || !strings.Contains(flat(out.String()), last+" carried 1.00 × the goodput of before:sku=basic ") {
			t.Errorf("status %d, %s, %s", code, errs, out)
		}
	}
}

func TestWhatCannotBeComparedSaysWhatToDo(t *testing.T) {
	for args, c := range map[string]struct {
		code int
		want []string
	}{
		"before":                        {2, []string{"usage: soku compare A B..."}},
		"before before":                 {2, []string{"with itself", "give two or more"}},
		"bfore after":                   {9, []string{`no campaign and no result "bfore"`, "did you mean before?"}},
		"xyzzy after":                   {9, []string{"soku ls --campaigns"}},
		"bfore:sku=basic after":         {9, []string{`no campaign "bfore"`, "did you mean before?"}},
		"before:skuu=basic after":       {2, []string{`the factor "skuu"`, "did you mean sku?"}},
		"before:zone=1 after":           {2, []string{`the factor "zone"`, "its factors are: sku, streams"}},
		"before:sku=ulta after":         {2, []string{`the level "ulta" of sku`, "did you mean ultra?"}},
		"before:sku=gold after":         {2, []string{"its levels are: basic, ultra"}},
		"before:sku= after":             {2, []string{"CAMPAIGN:factor=level"}},
		"before before:sku=ultra":       {2, []string{"results in common"}},
		"hand0 hand-latency":            {2, []string{"tcp (bit/s)", "latency (ns)", "soku ls --test"}},
		"before hand0":                  {2, []string{"basic / 1, basic / 8, ultra / 1, ultra / 8", "CAMPAIGN:factor=level"}},
		"before after hand-latency":     {2, []string{"compare hand-latency with before"}},
		"before after --practical 3":    {2, []string{"3%"}},
		"before after --practical=-1%":  {2, []string{"3%"}},
		"before after --practical NaN%": {2, []string{"3%"}},
		"20260314-090000 after":         {2, []string{"fits several"}},
		"0198 after":                    {2, []string{"fits several"}},
	} {
		out, errs, code := runCompareCommand(t, 0, strings.Fields(args)...)
		if code != c.code || out != "" || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: status %d, want %d: %s%s", args, code, c.code, out, errs)
		}
		for _, want := range c.want {
			if !strings.Contains(errs, want) {
				t.Errorf("%s: no %q in %s", args, want, errs)
			}
		}
	}
}

func TestComparisonsFitANarrowTerminal(t *testing.T) {
	for _, args := range []string{"before after", "hand0 hand1", "20260314-090000-before-0a1b2c:sku=basic,streams=1 20260314-090000-after-0a1b2c:sku=basic,streams=1 hand0 --all-pairs"} {
		out, errs, code := runCompareCommand(t, 60, strings.Fields(args)...)
		if code != 0 || out == "" {
			t.Fatalf("%s: status %d, %s", args, code, errs)
		}
		for line := range strings.Lines(out) {
			if w := text.Terminal.StringWidth(strings.TrimRight(line, "\n")); w > 60 {
				t.Errorf("%d columns: %s", w, line)
			}
		}
	}
}

func TestComparisonsAreWrittenToAFileInTheFormatOfItsExtension(t *testing.T) {
	for name, begins := range map[string]string{"a.html": "<!doctype html>", "A.MD": "## up: goodput", "a.xlsx": "PK", "a.csv": "test,label", "a.json": "{", "a": "up: goodput", "b.txt --format md": "## up"} {
		words := strings.Fields(name)
		file := filepath.Join(t.TempDir(), words[0])
		out, errs, code := runCompareCommand(t, 0, append([]string{"before", "after", "-o", file}, words[1:]...)...)
		written, err := os.ReadFile(file)
		if code != 0 || err != nil || !strings.HasPrefix(string(written), begins) || out != "wrote "+file+"\n" {
			t.Errorf("%s: status %d, %v, %s%s%.40q", name, code, err, out, errs, written)
		}
	}
	for args, want := range map[string]string{"-o x.pdf": `no format "pdf"`, "--format xlsx": "-o FILE.xlsx", "--format trials.csv": "choose txt, md, html, xlsx, csv or json"} {
		out, errs, code := runCompareCommand(t, 0, append([]string{"before", "after"}, strings.Fields(args)...)...)
		if code != 2 || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%s: status %d, %s%s", args, code, out, errs)
		}
	}
	if out, _, _ := runCompareCommand(t, 0, "before", "after", "--format", "html", "-o", "-"); !strings.Contains(out, "<title>Comparison of before and after</title>") {
		t.Error(out)
	}
}

func TestACampaignAfterAnotherIsOneSentenceAndOneTableATest(t *testing.T) {
	out, _, _ := runCompareCommand(t, 0, "before", "after")
	if !strings.Contains(flat(out), "Over 4 patterns, after carried 1.20 × the goodput of before (95 % interval ") || strings.Count(out, "decision\n") != 2 {
		t.Error(out)
	}
	if strings.Contains(flat(out), "after is better than before") {
		t.Errorf("each comparison is for --full:\n%s", out)
	}
	full, _, _ := runCompareCommand(t, 0, "before", "after", "--full")
	if !strings.HasPrefix(full, strings.TrimSpace(out[:200])) || !strings.Contains(flat(full), "basic / 1: after is better than before: goodput 20.") {
		t.Error(full)
	}
}

func TestChoicesAreCompleted(t *testing.T) {
	for word, want := range map[string][]string{
		"":                         {"before", "after", "20260314-090000-before-0a1b2c\t", "hand0-bytes\t", "last"},
		"bef":                      {"before\n"},
		"hand":                     {"hand0-bytes\t", "hand1-bytes\t"},
		"before:":                  {"before:sku=basic\n", "before:sku=ultra\n", "before:streams=1\n", "before:streams=8\n"},
		"before:s":                 {"before:sku=basic\n", "before:streams=8\n"},
		"before:sku=u":             {"before:sku=ultra\n"},
		"before:sku=basic,":        {"before:sku=basic,streams=1\n", "before:sku=basic,streams=8\n"},
		"before:sku=basic,streams": {"before:sku=basic,streams=1\n"},
	} {
		sys, out, _ := fakeSystem(t, "__complete", "compare", "after", word)
		fillComparable(t, sys)
		if code := Run(sys); code != 0 {
			t.Fatal(code)
		}
		for _, w := range want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("%q: no %q in %s", word, w, out)
			}
		}
		if strings.Contains(word, ",") && strings.Contains(out.String(), ",sku=") || word == "bef" && strings.Contains(out.String(), "after") {
			t.Errorf("%q: %s", word, out)
		}
	}
}
