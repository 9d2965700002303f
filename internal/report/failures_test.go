package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/metric"
)

func TestFailedTrialsAreListedAndNotCounted(t *testing.T) {
	tcp := build(t, campaignWithFailure()).test(t, "tcp")
	row := tcp.row(t, "高性能")
	if g := row.figure(metric.Goodput); row.Trials != 2 || row.Failed != 1 || g.N != 2 || g.Min < 1e8 {
		t.Errorf("%+v %+v", row, g)
	}
	if len(tcp.Failures) != 1 || tcp.Failures[0].Round != 2 || !strings.Contains(tcp.Failures[0].Message, "connection reset") {
		t.Errorf("%+v", tcp.Failures)
	}
	if !slices.ContainsFunc(english(tcp).caveats(), func(c string) bool { return strings.HasPrefix(c, "1 of 12 trials failed") }) {
		t.Errorf("caveats %+v", tcp.Caveats)
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
	if g := test.row(t, "missing").figure(metric.Goodput); g != nil {
		t.Errorf("a goodput of %v is made up", g.Mean)
	}
	if g := test.row(t, "all lost").figure(metric.Goodput); g == nil || g.Mean != 0 {
		t.Errorf("%+v", g)
	}
}
