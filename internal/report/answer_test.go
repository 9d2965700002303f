package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/text"
)

func TestFailedTrialsAreListedAndNotCounted(t *testing.T) {
	tcp := build(t, campaignWithFailure()).test(t, "tcp")
	row := tcp.row(t, "高性能")
	if g := row.figure(measure.MetricGoodput); row.Trials != 2 || row.Failed != 1 || g.N != 2 || g.Min < 1e8 {
		t.Errorf("%+v %+v", row, g)
	}
	if len(tcp.Failures) != 1 || tcp.Failures[0].Round != 2 || !strings.Contains(tcp.Failures[0].Message, "connection reset") {
		t.Errorf("%+v", tcp.Failures)
	}
	if !slices.ContainsFunc(english(tcp).caveats(), func(c string) bool { return strings.HasPrefix(c, "1 of 12 trials failed") }) {
		t.Errorf("caveats %+v", tcp.Caveats)
	}
}

func TestAnswersClaimWhatTheRankingShows(t *testing.T) {
	for _, c := range []struct {
		name   string
		rounds map[string][]float64
		want   string
	}{
		{"clear", map[string][]float64{"ultra": {382e6, 384e6, 380e6}, "high": {200e6, 201e6, 202e6}}, "ultra is fastest: 382.0 Mbit/s, 1.9 × the next, high; shown by 3 rounds."},
		{"close but clear", map[string][]float64{"ultra": {107e6, 107.1e6, 107e6}, "high": {100e6, 100e6, 100.1e6}}, "ultra is fastest: 107.0 Mbit/s, 7.0 % more than the next, high; shown by 3 rounds."},
		{"none", map[string][]float64{"a": {100e6, 110e6, 90e6}, "b": {105e6, 92e6, 101e6}}, "No difference shown between a and b: 100.0 Mbit/s and 99.33 Mbit/s, in 3 rounds."},
		{"two ahead", map[string][]float64{"a": {100e6, 102e6, 98e6}, "b": {99e6, 101e6, 99e6}, "c": {10e6, 12e6, 9e6}}, "No difference shown between a and b (100.0 Mbit/s and 99.67 Mbit/s); next is c with 10.33 Mbit/s, in 3 rounds."},
		{"one round", map[string][]float64{"a": {100e6}, "b": {50e6}}, "a is fastest: 100.0 Mbit/s, 2.0 × the next, b; one round, so the order is not tested."},
		{"one pattern", map[string][]float64{"a": {100e6, 120e6}}, "a: goodput 110.0 Mbit/s (100.0 Mbit/s to 120.0 Mbit/s in 2 trials)."},
		{"one trial", map[string][]float64{"a": {100e6}}, "a: goodput 100.0 Mbit/s."},
	} {
		if got := english(&build(t, campaignOf(c.rounds)).Tests[0]).answer(); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestPatternsThatShareARankForLackOfRoundsAreNamed(t *testing.T) {
	in := campaignOf(map[string][]float64{"a": {41.24e6, 39.86e6}, "b": {39.71e6, 39.85e6}, "c": {19.94e6, 20.52e6}, "d": {19.86e6, 19.94e6}})
	tcp := build(t, in).test(t, "tcp")
	want := "Too few rounds: c shares a rank with a because 2 rounds do not show a difference of 50.1 %; about 3 rounds would."
	if got := english(tcp).caveats(); len(got) != 1 || got[0] != want {
		t.Errorf("caveats %q", got)
	}
	for name, rounds := range map[string]map[string][]float64{
		"small":   {"a": {100e6, 101e6}, "b": {99e6, 100.4e6}},
		"alike":   {"a": {100e6, 110e6, 90e6}, "b": {105e6, 92e6, 101e6}},
		"decided": {"a": {100e6, 101e6, 102e6}, "b": {50e6, 51e6, 50e6}},
	} {
		if tcp := build(t, campaignOf(rounds)).test(t, "tcp"); len(tcp.Caveats) > 0 {
			t.Errorf("%s: caveats %+v", name, tcp.Caveats)
		}
	}
}

// measuredIn makes a run of the campaign measure those patterns.
func measuredIn(in Input, run int, patterns ...string) {
	for _, r := range in.Results {
		if slices.Contains(patterns, r.Trial.Pattern) {
			r.Trial.Session = &measure.Session{ID: fmt.Sprint(run), Number: run}
		}
	}
}

func TestPatternsOfDifferentRunsAreNotComparedAsInterleaved(t *testing.T) {
	in := campaignOf(map[string][]float64{"on": {107e6, 107.1e6, 107e6}, "off": {100e6, 100e6, 100.1e6}, "idle": {10e6, 12e6, 11e6}})
	measuredIn(in, 1, "on", "off", "idle")
	if tcp := build(t, in).test(t, "tcp"); tcp.Answer.Code != AnswerBest || len(tcp.Caveats) != 0 || tcp.Answer.Confidence != "" {
		t.Errorf("one run: %+v, %+v", tcp.Answer, tcp.Caveats)
	}
	measuredIn(in, 2, "off")
	r := build(t, in)
	tcp := r.test(t, "tcp")
	if tcp.Answer.Code != AnswerBestOtherRun || tcp.Answer.Confidence != measure.Low {
		t.Errorf("answer %+v", tcp.Answer)
	}
	if got, want := english(tcp).answer(), "on is fastest: 107.0 Mbit/s, 7.0 % more than the next, off; confidence low: different runs of the campaign measured them, so a change over time looks the same."; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if code := tcp.Ranking[1].Reason.Code; code != measure.CodeRankBelowOtherRun {
		t.Errorf("off has its rank by %s", code)
	}
	want := "Some patterns were never measured in one run of the campaign, so they were not interleaved (2 runs). A change over time between the runs can look like a difference."
	if got := english(tcp).caveats(); len(got) != 1 || got[0] != want {
		t.Errorf("caveats %q", got)
	}
	for i, want := range []string{"run 1|2026-03-14 09:27 UTC|6|2: idle, on", "run 2|2026-03-14 09:27 UTC|3|off"} {
		if got := strings.Join(english(tcp).runTable().Rows[i], "|"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for name, form := range map[string]string{"text": written(t, func(w io.Writer) error { return r.Text(w, text.English(), 200) }), "JSON": written(t, r.JSON)} {
		for _, say := range map[string][]string{"text": {"confidence low: different runs", "not paired: another run"}, "JSON": {`"best_other_run"`, `"rank_below_other_run"`, `"different_runs"`, `"confidence": "low"`}}[name] {
			if !strings.Contains(form, say) {
				t.Errorf("the %s has no %s", name, say)
			}
		}
	}

	// The run that measured both of the first rank decides between them.
	measuredIn(in, 1, "off")
	measuredIn(in, 2, "idle")
	if a := build(t, in).test(t, "tcp").Answer; a.Code != AnswerBest || a.Confidence != "" {
		t.Errorf("the last was measured in another run: %+v", a)
	}
	alike := campaignOf(map[string][]float64{"a": {100e6, 110e6, 90e6}, "b": {105e6, 92e6, 101e6}})
	measuredIn(alike, 1, "a")
	measuredIn(alike, 2, "b")
	if a := build(t, alike).test(t, "tcp").Answer; a.Code != AnswerNoDifferenceOtherRun || a.Confidence != measure.Low {
		t.Errorf("no difference: %+v", a)
	}
}

// In a campaign that was resumed many times, and in one with much left to do, lists would be
// longer than what they belong to.
func TestRunsAndMissingTrialsAreOneTableThatStaysShort(t *testing.T) {
	rounds, runs := map[string][]float64{}, 30
	for i := range runs {
		rounds[fmt.Sprintf("p%02d", i)] = []float64{1e8, 1.01e8}
	}
	in := campaignOf(rounds)
	for i := range runs {
		measuredIn(in, i+1, fmt.Sprintf("p%02d", i))
	}
	for i := range 10 {
		in.Patterns = append(in.Patterns, []measure.Level{{Factor: "path", Value: fmt.Sprintf("later%d", i)}})
	}
	for i, r := range in.Results {
		if r.Trial.Pattern == "p29" || r.Trial.Pattern == "p28" {
			in.Results[i].Error = measure.TextError(measure.KindRefused, "refused", "")
		}
	}
	r := build(t, in)
	test := r.test(t, "tcp")
	v := english(test)
	rows := v.runTable().Rows
	if len(rows) != mostRuns+2 || rows[mostRuns][0] != "not measured" || rows[mostRuns][3] != "10: later0, later1, later2, later3, later4, later5 and 4 more" || rows[mostRuns+1][0] != "failed" || rows[mostRuns+1][2] != "4" {
		t.Errorf("%q", rows)
	}
	for form, out := range forms(r) {
		if got := strings.Join(strings.Fields(written(t, out)), " "); form != "json" && form != "csv" && !strings.Contains(got, "which run measured what: the first 12 runs, and 16 more in the form json") {
			t.Errorf("%s does not say that runs are left out", form)
		}
	}
	var doc Report
	if err := json.Unmarshal([]byte(written(t, r.JSON)), &doc); err != nil || len(doc.Tests[0].Runs) != 28 || len(doc.Tests[0].NotMeasured) != 10 || doc.Tests[0].Runs[27].Trials != 2 {
		t.Errorf("JSON has not all: %v", err)
	}
	if all := strings.Join(v.caveats(), "\n"); !strings.Contains(all, "(28 runs)") || !strings.Contains(all, "10 patterns of the plan were not measured.") {
		t.Errorf("%s", all)
	}
	if one := english(build(t, campaignOf(map[string][]float64{"a": {1e8, 1e8}})).test(t, "tcp")); len(one.runTable().Columns) > 0 {
		t.Error("one run has a table")
	}
}

func TestAListOfFailuresStaysShort(t *testing.T) {
	in := campaignOf(map[string][]float64{"a": make([]float64, mostCauses+3)})
	for i, r := range in.Results {
		r.Error = measure.TextError(measure.KindRefused, fmt.Sprintf("cause %d", i), "")
	}
	got := english(build(t, in).test(t, "tcp")).failures()
	if len(got) != mostCauses+1 || got[mostCauses] != "and 3 more causes, in the form json" {
		t.Errorf("%q", got)
	}
}

// A run that is interrupted and resumed in the middle of a round keeps the other rounds.
func TestAnInterruptedRoundIsNotPaired(t *testing.T) {
	in := campaignOf(map[string][]float64{"a": {110e6, 110e6, 110.1e6, 110e6}, "b": {100e6, 100.1e6, 100e6, 100e6}})
	for _, r := range in.Results {
		run := 1
		if r.Trial.Round > 2 || r.Trial.Round == 2 && r.Trial.Pattern == "b" {
			run = 2
		}
		r.Trial.Session = &measure.Session{ID: fmt.Sprint(run), Number: run}
	}
	tcp := build(t, in).test(t, "tcp")
	if tcp.Answer.Code != AnswerBest || tcp.Answer.Rounds != 3 || tcp.Rounds != 4 || len(tcp.Caveats) != 0 {
		t.Errorf("answer %+v of %d rounds, caveats %+v", tcp.Answer, tcp.Rounds, tcp.Caveats)
	}
}

func TestNoBoundIsBelowZero(t *testing.T) {
	tcp := build(t, campaignOf(map[string][]float64{"a": {100e6, 10e6}})).test(t, "tcp")
	if low := tcp.Ranking[0].Low; low == nil || *low != 0 {
		t.Errorf("the interval begins at %v", low)
	}
}

func TestWhereAllTrialsFailedTheAnswerIsWhy(t *testing.T) {
	in := campaignOf(map[string][]float64{"a": {1, 2, 3}, "b": {4}})
	for i, r := range in.Results {
		r.Error = &measure.Error{Kind: measure.KindBroken, Message: fmt.Sprintf("tcp to vm: connection reset after %d.1 s", i), Hint: "see the server's log"}
	}
	answer := func() string { return english(&build(t, in).Tests[0]).answer() }
	cause := "tcp to vm: connection reset after 0.1 s; see the server's log"
	if got := answer(); !strings.HasPrefix(got, "All 4 trials failed: tcp to vm: connection reset after") || !strings.HasSuffix(got, " s; see the server's log") {
		t.Error(got)
	}
	in.Results[2].Error = &measure.Error{Kind: measure.KindRefused, Message: "connect vm: refused"}
	if got := answer(); !strings.HasPrefix(got, "All 4 trials failed, 3 of them with: tcp to vm") {
		t.Error(got)
	}
	in.Results = in.Results[:1]
	if got, want := answer(), "The trial failed: "+cause; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestFailuresAreCountedByTheirCodeAndThatOfTheirCause(t *testing.T) {
	because := func(code string, cause *measure.Error) *measure.Error {
		return measure.Fail(measure.KindBroken, code, measure.Figures{"cause": cause})
	}
	system := func(text string) *measure.Error {
		return measure.Fail(measure.KindBroken, "server.client_gone.cause", measure.Figures{"cause": errors.New(text)})
	}
	unknown := func(name string) *measure.Error {
		return measure.Fail(measure.KindUnreachable, "dns.not_found", measure.Figures{"host": name})
	}
	stopped, gone := measure.Fail(measure.KindBroken, "server.client_stopped", nil), measure.Fail(measure.KindBroken, "server.client_gone", nil)
	for name, c := range map[string]struct {
		errors []*measure.Error
		most   int
	}{
		"other words in a figure": {[]*measure.Error{unknown("east"), unknown("west"), unknown("north")}, 3},
		"another kind":            {[]*measure.Error{stopped, measure.Fail(measure.KindRefused, stopped.Code, nil)}, 1},
		"another code":            {[]*measure.Error{stopped, gone, gone}, 2},
		"one cause":               {[]*measure.Error{because("server.here", gone), because("server.here", gone)}, 2},
		"another cause":           {[]*measure.Error{because("server.here", gone), because("server.here", stopped)}, 1},
		"a cause of the system":   {[]*measure.Error{system("reset after 1 s"), system("reset after 3 s"), system("broken pipe")}, 2},
		"words like a code":       {[]*measure.Error{stopped, measure.TextError(stopped.Kind, stopped.Code, "")}, 1},
	} {
		in := campaignOf(map[string][]float64{"a": make([]float64, len(c.errors))})
		for i, r := range in.Results {
			r.Error = c.errors[i]
		}
		a := build(t, in).Tests[0].Answer
		if a.Code != AnswerAllFailed || a.Trials != len(c.errors) || a.Cause.Trials != c.most {
			t.Errorf("%s: %d of %d are counted as one, want %d", name, a.Cause.Trials, a.Trials, c.most)
		}
	}
}

func TestFailuresHaveCatalogueMessagesAndKeepTheirData(t *testing.T) {
	in := campaignOf(map[string][]float64{"a": {1}})
	e := measure.Fail(measure.KindRefused, "server.max_duration.ended", measure.Figures{"limit_ns": 90e9})
	e.Message, e.Hint = "words of another language", "the same"
	in.Results[0].Error = e
	r := build(t, in)
	want := "the server ended the test after 1m30s, its limit (--max-duration); ask for less, or for a duration within the limit"
	if got := english(&r.Tests[0]); got.answer() != "The trial failed: "+want || !strings.HasSuffix(got.failures()[0], ": "+want) {
		t.Errorf("%s\n%s\nwant %s", got.answer(), got.failures()[0], want)
	}
	var document struct {
		Tests []struct {
			Answer   struct{ Cause measure.Error } `json:"answer_facts"`
			Failures []measure.Error
		}
	}
	if err := json.Unmarshal([]byte(written(t, r.JSON)), &document); err != nil {
		t.Fatal(err)
	}
	for _, got := range []measure.Error{document.Tests[0].Answer.Cause, document.Tests[0].Failures[0]} {
		if got.Kind != e.Kind || got.Code != e.Code || got.Message != e.Message || got.Hint != e.Hint || got.Figures["limit_ns"] != 90e9 {
			t.Errorf("%+v", got)
		}
	}
}

func TestAFailureThatTrialsShareIsThereOnce(t *testing.T) {
	in := campaignOf(map[string][]float64{"a": {1, 2, 3}, "b": {4, 5, 6}})
	for i, r := range in.Results {
		r.Error = &measure.Error{Kind: measure.KindUnreachable, Message: "connect vm: refused", Hint: "is the server running?"}
		if i == 0 {
			r.Error = &measure.Error{Kind: measure.KindBroken, Message: "reset"}
		}
	}
	got := english(&build(t, in).Tests[0]).failures()
	if len(got) != 2 || !slices.ContainsFunc(got, func(s string) bool { return s == "connect vm: refused; is the server running? (5 trials: a, b)" }) {
		t.Errorf("failures are %q", got)
	}
}

func TestAMissingCountIsNoFigureAndATotalLossIsZero(t *testing.T) {
	in := campaignOf(map[string][]float64{"missing": {0}, "all lost": {0}})
	whole := 1.0
	for _, r := range in.Results {
		if r.Trial.Pattern == "all lost" {
			r.Summary.LossRatio = &whole
		}
	}
	test := build(t, in).Tests[0]
	if g := test.row(t, "missing").figure(measure.MetricGoodput); g != nil {
		t.Errorf("a goodput of %v is made up", g.Mean)
	}
	if g := test.row(t, "all lost").figure(measure.MetricGoodput); g == nil || g.Mean != 0 {
		t.Errorf("%+v", g)
	}
}

func TestFindingsAreCountedOnceATrialByCodeAndPlace(t *testing.T) {
	in := campaignOf(map[string][]float64{"a": {1e6, 2e6}, "b": {3e6}})
	for i, r := range in.Results {
		for range 2 {
			r.Findings.Add(measure.CodeReceiverDisagrees, "forward", measure.Figures{"sent_bytes": 1e9, "received_bytes": 9e8 + float64(i)})
		}
	}
	in.Results[1].Findings.Add(measure.CodeReceiverDisagrees, "reverse", measure.Figures{"sent_bytes": 1e9, "received_bytes": 9e8})
	in.Results[1].Findings.Add(measure.CodeNotPinned, "server", nil)
	r := build(t, in)
	w := r.Warnings
	if len(w) != 3 || w[0].Trials != 3 || !w[0].Alike || w[0].Where != "forward" || !slices.Equal(w[0].Patterns, []string{"a", "b"}) {
		t.Fatalf("%+v", w)
	}
	if w[1].Code != measure.CodeNotPinned || w[2].Where != "reverse" || w[1].Trials != 1 || w[1].Alike || w[2].Alike {
		t.Errorf("%+v", w[1:])
	}
	var document struct {
		Warnings []map[string]any `json:"warnings"`
	}
	if err := json.Unmarshal([]byte(written(t, r.JSON)), &document); err != nil {
		t.Fatal(err)
	}
	first := document.Warnings[0]
	if first["code"] != "receiver_disagrees" || first["trials"] != 3.0 || first["alike"] != true || !strings.Contains(first["text"].(string), "forward: the sender counted 1.000 GB") {
		t.Errorf("%v", first)
	}
}

func TestSentencesAreCountedByTheirWords(t *testing.T) {
	in := campaignOf(map[string][]float64{"a": {1e6, 2e6}, "b": {3e6}})
	for i, r := range in.Results {
		w := fmt.Sprintf("forward: the sender counted %d.25 GB, the receiver 900 MB", i)
		r.Findings = measure.OfSentences([]string{w, w})
	}
	in.Results[0].Findings = append(in.Results[0].Findings, measure.TextFinding("the clock stepped"))
	w := build(t, in).Warnings
	if len(w) != 2 || w[0].Trials != 3 || !w[0].Alike || w[1].Trials != 1 || w[1].Alike {
		t.Errorf("%+v", w)
	}
	if !slices.Equal(w[0].Patterns, []string{"a", "b"}) {
		t.Errorf("patterns %v", w[0].Patterns)
	}
}

func TestOptionsThatDifferAreReported(t *testing.T) {
	in := campaignOf(map[string][]float64{"a": {1e6, 2e6}})
	in.Results[1].Options.Streams = 8
	test := build(t, in).Tests[0]
	if len(test.Different) != 1 || test.Different[0].Key != "streams" || !slices.Equal(test.Different[0].Values, []string{"1", "8"}) {
		t.Errorf("%+v", test.Different)
	}
	if !slices.ContainsFunc(test.Same, func(o Option) bool { return o.Key == "duration" && o.Values[0] == "10s" }) {
		t.Errorf("%+v", test.Same)
	}
}

func TestUncertainTrialsAreReportedByWhatTheTestMeasures(t *testing.T) {
	in := fourPatterns().input()
	for _, r := range in.Results {
		r.Summary.Confidence = measure.Medium
	}
	r := build(t, in)
	for label, want := range map[string]string{"tcp": "Throughput never became steady (12 of 12 trials)", "latency": "Too few round trips for a reliable p99 (12 of 12 trials)"} {
		test := r.test(t, label)
		if !slices.Contains(english(test).caveats(), want) {
			t.Errorf("%s: %+v", label, test.Caveats)
		}
	}
	if tcp := r.test(t, "tcp"); english(tcp).confidences(tcp.Rows[0].Confidence) != "3 medium" || english(tcp).confidences(Confidences{High: 2, Low: 1}) != "2 high, 1 low" {
		t.Errorf("confidence %+v", tcp.Rows[0].Confidence)
	}
}

// The reference lists the codes, and each has its sentence.
func TestEveryAnswerAndCaveatIsDocumentedAndHasAMessage(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/report.md")
	if err != nil {
		t.Fatal(err)
	}
	two := []Estimate{{"a", 2e6}, {"b", 1e6}}
	low, high := 1e6, 2e6
	pairs := &Pairs{Maps: []PairMap{{Cells: []PairCell{{From: "a", To: "b", Estimate: &high}, {From: "b", To: "a", Estimate: &low}}, Q1: &low, Q3: &high}}}
	said := map[string]string{}
	for _, better := range []*measure.Metric{measure.MetricGoodput, measure.MetricRTTP50} {
		for _, code := range AnswerCodes() {
			v := english(&Test{Basis: Basis{better}, Pairs: pairs, Answer: Answer{Code: code, First: two, Next: &two[1], Rounds: 3, Trials: 1, Cause: &Cause{Error: measure.TextError(measure.KindRefused, "refused", "")}}})
			said[string(code)] = v.answer()
			if got := said[string(code)]; strings.Contains(got, "map[") || got == "" {
				t.Errorf("%s: %q", code, got)
			}
		}
	}
	for _, code := range CaveatCodes() {
		said[string(code)] = english(&Test{}).caveat(Caveat{Code: code, Trials: 1, Of: 2, Readings: 3, Undecided: &Undecided{Pattern: "a", Than: "b"}})
		if got := said[string(code)]; strings.Contains(got, "map[") || got == "" {
			t.Errorf("%s: %q", code, got)
		}
	}
	for code := range said {
		if !strings.Contains(string(page), "\n| `"+code+"` |") {
			t.Errorf("docs/reference/report.md does not list %s", code)
		}
	}
	if len(said) != len(AnswerCodes())+len(CaveatCodes()) {
		t.Errorf("%d codes in all", len(said))
	}
}

func TestEveryFigureThatRanksHasAName(t *testing.T) {
	for _, test := range measure.Tests() {
		for _, m := range measure.MetricsOf(test).Ranking {
			if v := english(&Test{Test: test, Basis: Basis{m}}); !v.Has("noun."+m.Key) || v.noun() == "" {
				t.Errorf("%s of %s has no noun in the catalogue", m.Key, test)
			}
		}
	}
}

func TestAFewNoisyRoundsAreTooFewToTell(t *testing.T) {
	tcp := build(t, campaignOf(map[string][]float64{"a": {100e6, 40e6}, "b": {30e6, 90e6}})).test(t, "tcp")
	want := "no difference shown from a: 17.8 % below it, and 2 rounds are too few to tell; about 203 more would show a difference of this size"
	reason := tcp.Ranking[1].Reason
	if got := english(tcp).Finding(reason); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	low, _ := reason.Number("low_ratio")
	high, _ := reason.Number("high_ratio")
	if needed, known := reason.Number("needed_rounds"); !known || needed != 205 || low > -0.99 || high < 10 {
		t.Errorf("%+v: the figures keep the interval and the rounds in all", reason)
	}
}
