package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/store"
)

const campaignMapping = `
factors: {sku: {column: sku}}
round: {column: round}
repeat: {column: repeat}
session: {column: day}
results:
  - {test: tcp, label: download, figures: {goodput: {column: mbps, unit: Mbit/s}}}
`

func mappingOf(t *testing.T, text string) *Mapping {
	t.Helper()
	m, err := ParseMapping("m.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func tableRequest(m *Mapping) *Request {
	return &Request{Campaign: "x", Format: Auto, Mapping: m, Version: "test", Now: fileTime}
}

// trialsOf is each result as pattern, round, repeat and session, in the order of the table.
func trialsOf(results []*measure.Result) string {
	sorted := slices.SortedFunc(slices.Values(results), func(a, b *measure.Result) int { return a.Origin.Record - b.Origin.Record })
	var lines []string
	for _, r := range sorted {
		t := r.Trial
		session := ""
		if t.Session != nil {
			session = fmt.Sprintf(" %d %s", t.Session.Number, t.Session.ID)
		}
		lines = append(lines, fmt.Sprintf("%s %d.%d%s", t.Pattern, t.Round, t.Repeat, session))
	}
	return strings.Join(lines, ", ")
}

func TestATableNamesRoundsRepeatsAndSessions(t *testing.T) {
	table := "sku,round,repeat,day,mbps\nA,2,1,Mon 4 May,10\nB,1,2,Mon 4 May,20\nB,1,1,Mon 4 May,21\nA,1,1,Mon 4 May,11\nA,25,1,Tue,12\nB,25,1,Tue,22\nA,9,1,Tue,\n"
	_, results := take(t, openStore(t), tableRequest(mappingOf(t, campaignMapping)), false, table)
	if got := trialsOf(results); got != "A 2.1 1 Mon 4 May, B 1.2 1 Mon 4 May, B 1.1 1 Mon 4 May, A 1.1 1 Mon 4 May, A 25.1 2 Tue, B 25.1 2 Tue" {
		t.Error(got)
	}
	for _, r := range results {
		if r.Origin.Round != r.Trial.Round || r.Trial.Order < 1 || r.Trial.Label != "download" {
			t.Errorf("%+v %+v", r.Origin, r.Trial)
		}
	}
}

func TestARoundMayBeNamedWithoutRepeatOrSession(t *testing.T) {
	m := mappingOf(t, "factors: {sku: {column: sku}}\nround: {column: n}\nresults: [{test: latency, figures: {mean: {low: l, high: h, unit: ms}}}]")
	_, results := take(t, openStore(t), tableRequest(m), false, "sku,n,l,h\nA,3,1,2\nB,3,2,3\nA,1,3,4\n")
	if got := trialsOf(results); got != "A 3.1, A 3.2, B 3.1, B 3.2, A 1.1, A 1.2" {
		t.Error(got)
	}
}

// Rounds of one number in two sessions were not interleaved: a mean over both, or a pair of
// one from each, would mix two days.
func TestRoundsOfTwoSessionsAreNotOne(t *testing.T) {
	st, q := openStore(t), tableRequest(mappingOf(t, campaignMapping))
	_, results := take(t, st, q, false, "sku,round,repeat,day,mbps\nA,1,1,Mon,10\nA,1,1,Tue,11\nB,1,1,Tue,12\nB,1,1,Mon,13\nA,2,1,Tue,14\nB,2,1,Tue,15\nA,2,1,Mon,16\n")
	if got := trialsOf(results); got != "A 1.1 1 Mon, A 2.1 2 Tue, B 2.1 2 Tue, B 1.1 1 Mon, A 3.1 2 Tue, B 3.1 2 Tue, A 4.1 1 Mon" {
		t.Error(got)
	}
	// Another file of the same campaign goes on with both.
	added, results := take(t, st, q, false, "sku,round,repeat,day,mbps\nB,2,1,Mon,17\nA,3,1,Mon,18\nA,3,1,Wed,19\n")
	rest := slices.DeleteFunc(results, func(r *measure.Result) bool { return r.Summary.GoodputBps < 17e6 })
	if got := trialsOf(rest); added != 3 || got != "B 4.1 1 Mon, A 5.1 1 Mon, A 6.1 3 Wed" {
		t.Errorf("%d added: %s", added, got)
	}
	again, results := take(t, st, q, false, "sku,round,repeat,day,mbps\nB,2,1,Mon,17\nA,3,1,Mon,18\nA,3,1,Wed,19\n")
	if again != 0 || len(results) != 10 {
		t.Errorf("%d added again, %d results", again, len(results))
	}
}

func TestRoundsThatAreNumberedThroughAllSessionsKeepTheirNumbers(t *testing.T) {
	_, results := take(t, openStore(t), tableRequest(mappingOf(t, campaignMapping)), false, "sku,round,repeat,day,mbps\nB,4,1,Tue,10\nA,1,1,Mon,11\nB,3,1,Tue,12\nA,2,1,Mon,13\nA,4,1,Tue,14\nB,1,1,Mon,15\n")
	if got := trialsOf(results); got != "B 4.1 1 Tue, A 1.1 2 Mon, B 3.1 1 Tue, A 2.1 2 Mon, A 4.1 1 Tue, B 1.1 2 Mon" {
		t.Error(got)
	}
}

func TestBadRoundsRepeatsAndSessionsAreErrorsWithFileAndLine(t *testing.T) {
	const header = "sku,round,repeat,day,mbps\n"
	for row, want := range map[string]string{
		"A,-1,1,Mon,10":                   `f:3: round "-1" is not a whole number from 1 to 10000`,
		"A,0,1,Mon,10":                    `f:3: round "0"`,
		"A,10001,1,Mon,10":                `f:3: round "10001"`,
		"A,99999999999999999999,1,Mon,10": `f:3: round "99999999999999999999"`,
		"A,1.5,1,Mon,10":                  `f:3: round "1.5"`,
		"A,one,1,Mon,10":                  `f:3: round "one"`,
		"A,,1,Mon,10":                     `f:3: round ""`,
		"A,2,0,Mon,10":                    `f:3: repeat "0" is not a whole number from 1 to 1000`,
		"A,2,1001,Mon,10":                 `f:3: repeat "1001"`,
		"A,2,+1,Mon,10":                   `f:3: repeat "+1"`,
		"A,2,1,,10":                       `f:3: no session in this row`,
		"A,2,1," + strings.Repeat("x", 201) + ",1": "f:3: session",
		"A,1,1,Mon,11":  `f:3: download of A, round 1, repeat 1, session Mon: the same trial is in line 2 of f`,
		"A,01,1,Mon,11": `f:3: download of A, round 1`,
	} {
		q := tableRequest(mappingOf(t, campaignMapping))
		if err := ingestError(t, q, header+"A,1,1,Mon,10\n"+row+"\n"); err == nil || !strings.Contains(err.Error(), want) || measure.KindOf(err) != measure.KindFile {
			t.Errorf("%s: %v, want %q", row, err, want)
		}
	}
	for _, row := range []string{"A,1,2,Mon,10", "B,1,1,Mon,10", "A,2,1,Mon,10", "A,1,1,Tue,10", "A,,,,"} {
		if err := ingestError(t, tableRequest(mappingOf(t, campaignMapping)), header+"A,1,1,Mon,10\n"+row+"\n"); err != nil {
			t.Errorf("%s: %v", row, err)
		}
	}
}

// ingestError is why a table cannot be put into a new campaign.
func ingestError(t *testing.T, q *Request, text string) error {
	t.Helper()
	s, err := NewSource("f", []byte(text), fileTime)
	if err != nil {
		t.Fatal(err)
	}
	results, err := q.Read(s)
	if err != nil {
		return err
	}
	in, err := Open(context.Background(), openStore(t), q, true)
	if err != nil {
		t.Fatal(err)
	}
	return in.Check(results)
}

// A table that has grown is another file: ingesting it would count its first trials twice.
func TestATrialThatTheCampaignHasFromAnotherFileIsAnError(t *testing.T) {
	st, q := openStore(t), tableRequest(mappingOf(t, campaignMapping))
	const table = "sku,round,repeat,day,mbps\nA,1,1,Mon,10\nA,1,1,Tue,10\n"
	take(t, st, q, false, table)
	in, err := Open(context.Background(), st, q, false)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := NewSource("g", []byte(table+"A,2,1,Tue,11\n"), fileTime)
	results, err := q.Read(s)
	if err != nil {
		t.Fatal(err)
	}
	var e *measure.Error
	if err := in.Check(results); !errors.As(err, &e) || !strings.Contains(e.Error(), "g:2: download of A, round 1, repeat 1, session Mon: the same trial is in line 2 of f") {
		t.Errorf("%v", err)
	}
	if page, err := st.List(context.Background(), store.Query{}); err != nil || len(page.Items) != 2 {
		t.Errorf("%d results, %v", len(page.Items), err)
	}
}

func TestAMappingThatCannotNumberRoundsIsAnError(t *testing.T) {
	const results = "results: [{test: tcp, figures: {goodput: {column: a, unit: bit/s}}}]\n"
	for text, want := range map[string]string{
		results + "repeat: {column: r}":                   "m.yaml:2:9: repeat without round",
		results + "round: {column: r, value: 1}":          "m.yaml:2:8: round: give it a column, a value",
		results + "round: {unit: ms}":                     "m.yaml:2:8: round: give it a column, a value",
		results + "round: {low: a, high: b}":              "m.yaml:2:8: round: only a figure can be a range",
		results + "round: {value: 1e3}":                   `m.yaml:2:8: round "1e3" is not a whole number`,
		results + "round: {value: 1}\nrepeat: {value: 0}": `m.yaml:3:9: repeat "0" is not`,
		"round: {column: r}":                              "m.yaml:1:8: round is for tables",
		"session: {value: Mon}":                           "m.yaml:1:10: session is for tables",
		"round: {column: r}\nrepeat: {column: s}\nresults: [{test: ping, figures: {mean: {low: a, high: b, unit: ms}}}]": "m.yaml:2:9: repeat and a range of mean",
	} {
		if _, err := ParseMapping("m.yaml", []byte(text)); err == nil || measure.KindOf(err) != measure.KindFile || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	m := mappingOf(t, results+"round: {column: r}")
	if err := ingestError(t, tableRequest(m), "a\n1\n"); err == nil || !strings.Contains(err.Error(), `no column "r"`) {
		t.Errorf("%v", err)
	}
	m.Path = "run{repeat}.csv"
	if err := tableRequest(m).Check(); measure.KindOf(err) != measure.KindUsage || !strings.Contains(err.Error(), "both the path pattern") {
		t.Errorf("%v", err)
	}
}
