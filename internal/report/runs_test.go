package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/text"
)

// measuredIn makes a run of the campaign measure those patterns.
func measuredIn(in Input, run int, patterns ...string) {
	for _, r := range in.Results {
		if slices.Contains(patterns, r.Trial.Pattern) {
			r.Trial.Session = &measure.Session{ID: fmt.Sprint(run), Number: run}
		}
	}
}

func TestPatternsOfDifferentRunsAreNotComparedAsInterleaved(t *testing.T) {
	in := campaignOf(map[string][]float64{"on": {107e6, 107.1e6, 107e6, 107e6, 107.1e6, 107e6}, "off": {100e6, 100e6, 100.1e6, 100e6, 100e6, 100.1e6}, "idle": {10e6, 12e6, 11e6, 10e6, 12e6, 11e6}})
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
	if got, want := english(tcp).answer(), "on is fastest: 107.0 Mbit/s, 7.0 % more than the next, off with 100.0 Mbit/s; confidence low: different runs of the campaign measured them, so a change over time looks the same."; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if code := tcp.Ranking[1].Reason.Code; code != finding.RankBelowOtherRun {
		t.Errorf("off has its rank by %s", code)
	}
	want := "Some patterns were never measured in one run of the campaign, so they were not interleaved (2 runs). A change over time between the runs can look like a difference."
	if got := english(tcp).caveats(); len(got) != 1 || got[0] != want {
		t.Errorf("caveats %q", got)
	}
	for i, want := range []string{"run 1|2026-03-14 09:27 UTC|12|2: idle, on", "run 2|2026-03-14 09:27 UTC|6|off"} {
		if got := strings.Join(texts(english(tcp).runTable())[i], "|"); got != want {
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
	rows := texts(v.runTable())
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

// A run that is interrupted and resumed in the middle of a round keeps the other rounds.
func TestAnInterruptedRoundIsNotPaired(t *testing.T) {
	in := campaignOf(map[string][]float64{"a": {110e6, 110e6, 110.1e6, 110e6, 110e6, 110.1e6, 110e6}, "b": {100e6, 100.1e6, 100e6, 100e6, 100.1e6, 100e6, 100e6}})
	for _, r := range in.Results {
		run := 1
		if r.Trial.Round > 2 || r.Trial.Round == 2 && r.Trial.Pattern == "b" {
			run = 2
		}
		r.Trial.Session = &measure.Session{ID: fmt.Sprint(run), Number: run}
	}
	tcp := build(t, in).test(t, "tcp")
	if tcp.Answer.Code != AnswerBest || tcp.Answer.Rounds != 6 || tcp.Rounds != 7 || len(tcp.Caveats) != 0 {
		t.Errorf("answer %+v of %d rounds, caveats %+v", tcp.Answer, tcp.Rounds, tcp.Caveats)
	}
}
