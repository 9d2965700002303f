package report

import (
	"os"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/report/outline"
)

func TestAnswersClaimWhatTheRankingShows(t *testing.T) {
	for _, c := range []struct {
		name   string
		rounds map[string][]float64
		want   string
	}{
		{"clear", map[string][]float64{"ultra": {382e6, 384e6, 380e6}, "high": {200e6, 201e6, 202e6}}, "ultra is fastest: 382.0 Mbit/s, 1.9 × the next, high with 201.0 Mbit/s; seen in 3 of 3 rounds."},
		{"close but clear", map[string][]float64{"ultra": {107e6, 107.1e6, 107e6}, "high": {100e6, 100e6, 100.1e6}}, "ultra is fastest: 107.0 Mbit/s, 7.0 % more than the next, high with 100.0 Mbit/s; seen in 3 of 3 rounds."},
		{"none", map[string][]float64{"a": {100e6, 110e6, 90e6}, "b": {105e6, 92e6, 101e6}}, "a and b are not told apart: 99.67 Mbit/s and 99.18 Mbit/s, in 3 rounds."},
		{"two ahead", map[string][]float64{"a": {100e6, 102e6, 98e6}, "b": {99e6, 101e6, 99e6}, "c": {10e6, 12e6, 9e6}}, "a and b lead and are not told apart (99.99 Mbit/s and 99.66 Mbit/s); next is c with 10.26 Mbit/s, in 3 rounds."},
		{"enough rounds", map[string][]float64{"ultra": {382e6, 384e6, 380e6, 383e6, 381e6, 382e6}, "high": {200e6, 201e6, 202e6, 200e6, 201e6, 202e6}}, "ultra is fastest: 382.0 Mbit/s, 1.9 × the next, high with 201.0 Mbit/s; shown by 6 rounds."},
		{"two rounds", map[string][]float64{"a": {100e6, 101e6}, "b": {50e6, 51e6}}, "a is fastest: 100.5 Mbit/s, 2.0 × the next, b with 50.50 Mbit/s; 2 rounds, so the order is not tested."},
		{"one round", map[string][]float64{"a": {100e6}, "b": {50e6}}, "a is fastest: 100.0 Mbit/s, 2.0 × the next, b with 50.00 Mbit/s; one round, so the order is not tested."},
		{"one pattern", map[string][]float64{"a": {100e6, 120e6}}, "goodput of a: 109.5 Mbit/s (100.0 Mbit/s to 120.0 Mbit/s in 2 trials)."},
		{"one trial", map[string][]float64{"a": {100e6}}, "goodput of a: 100.0 Mbit/s."},
	} {
		if got := english(&build(t, campaignOf(c.rounds)).Tests[0]).answer(); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestPatternsThatShareARankForLackOfRoundsAreNamed(t *testing.T) {
	in := campaignOf(map[string][]float64{"a": {100e6, 104e6, 101e6}, "b": {95e6, 100e6, 92e6}})
	tcp := build(t, in).test(t, "tcp")
	want := "Too few rounds: b shares a rank with a because 3 rounds do not show a difference of 5.9 %; about 6 rounds would."
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

func TestAReasonThatAllPlacesHaveIsWrittenOnce(t *testing.T) {
	for reason, rounds := range map[string]map[string][]float64{
		"two rounds, so the order is not tested": {"a": {100e6, 101e6}, "b": {50e6, 51e6}, "c": {20e6, 21e6}},
		"a: highest of 3 over 3 rounds":          {"a": {100e6, 101e6, 102e6}, "b": {50e6, 51e6, 50e6}, "c": {20e6, 21e6, 22e6}},
	} {
		if text := reportText(t, campaignOf(rounds).Results); strings.Count(text, reason) != 1 {
			t.Errorf("not once %q:\n%s", reason, text)
		}
	}
}

// b lacks the slow rounds: its figure is the better one, and a is ahead in all rounds of both.
func TestAWinnerWithTheLowerFigureHasTheReason(t *testing.T) {
	in := campaignOf(map[string][]float64{
		"a": {100e6, 60e6, 101e6, 61e6, 102e6, 60e6, 100e6, 61e6, 101e6, 60e6, 102e6, 61e6}, "b": {90e6, 1, 91e6, 1, 92e6, 1, 89e6, 1, 91e6, 1, 92e6, 1},
	})
	for _, r := range in.Results {
		if r.Summary.GoodputBps == 1 {
			failed(r)
		}
	}
	tcp := build(t, in).test(t, "tcp")
	got := english(tcp).sentences()
	want := "B has 90.83 Mbit/s, which is better, but by comparison within rounds it is not among the first: 10.1 % below a (95 % interval 9.6 to 10.6 %, 6 rounds)."
	if len(got) < 2 || got[0] != "Path a is fastest: 78.17 Mbit/s, 11.2 % more than the next, b (95 % interval 10.6 to 11.8 %); shown by 6 rounds." || got[1] != want {
		t.Errorf("%q", got)
	}
	if reason := english(tcp).Finding(tcp.Ranking[0].Reason); reason != "ahead of b where compared; of 2 over 12 rounds" {
		t.Error(reason)
	}
}

// The median of all round trips together is another figure than the ranking's.
func TestTheFigureOfATableIsThatOfTheRanking(t *testing.T) {
	r := build(t, fourPatterns().input())
	for _, label := range []string{"tcp", "latency"} {
		v := english(r.test(t, label))
		table, ranking := v.figureTable(), v.rankTable()
		column := func(names ...string) int {
			return slices.IndexFunc(table.Columns, func(c outline.Column) bool { return slices.Contains(names, c.Name) })
		}
		at := column("goodput", "p50")
		for _, row := range table.Rows {
			if !slices.ContainsFunc(texts(ranking), func(rank []string) bool { return rank[1] == row.Name && rank[2] == row.Cells[at].Text }) {
				t.Errorf("%s: %q of %s is not in the ranking %q", label, row.Cells[at].Text, row.Name, texts(ranking))
			}
		}
	}
}

func TestNoBoundIsBelowZero(t *testing.T) {
	tcp := build(t, campaignOf(map[string][]float64{"a": {100e6, 10e6}})).test(t, "tcp")
	if low := tcp.Ranking[0].Low; low == nil || *low != 0 {
		t.Errorf("the interval begins at %v", low)
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
	for label, want := range map[string]string{"tcp": "Throughput never became steady (12 of 12 trials).", "latency": "Too few round trips for a reliable p99 (12 of 12 trials)."} {
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
	two := []Estimate{{Pattern: "a", Estimate: 2e6}, {Pattern: "b", Estimate: 1e6}}
	low, high := 1e6, 2e6
	pairs := &Pairs{Maps: []PairMap{{Cells: []PairCell{{From: "a", To: "b", Estimate: &high}, {From: "b", To: "a", Estimate: &low}}, Q1: &low, Q3: &high}}}
	said := map[string]string{}
	for _, better := range []*metric.Definition{metric.Goodput, metric.RTTP50} {
		for _, code := range AnswerCodes() {
			v := english(&Test{Basis: Basis{better}, Pairs: pairs, Answer: Answer{Code: code, First: two, Next: &two[1], Rounds: 3, Trials: 1, Cause: &Cause{Error: measure.TextError(measure.KindRefused, "refused", "")}}})
			said[string(code)] = v.answer()
			if got := said[string(code)]; strings.Contains(got, "map[") || got == "" {
				t.Errorf("%s: %q", code, got)
			}
		}
	}
	for _, code := range CaveatCodes() {
		said[string(code)] = english(&Test{Missing: []Missing{{measure.TextFinding("no loss"), 1}}}).caveat(Caveat{Code: code, Trials: 1, Of: 2, Readings: 3, Undecided: &Undecided{Pattern: "a", Than: "b"}})
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
		for _, m := range metric.Of(test).Ranking {
			if v := english(&Test{Test: test, Basis: Basis{m}}); !v.Has("noun."+m.Key) || v.noun() == "" {
				t.Errorf("%s of %s has no noun in the catalogue", m.Key, test)
			}
		}
	}
}

func TestAFewNoisyRoundsAreTooFewToTell(t *testing.T) {
	tcp := build(t, campaignOf(map[string][]float64{"a": {100e6, 40e6, 70e6}, "b": {30e6, 90e6, 70e6}})).test(t, "tcp")
	want := "not told apart from a: 12.3 % below it, and 3 rounds are too few to tell"
	reason := tcp.Ranking[1].Reason
	if got := english(tcp).Finding(reason); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	low, _ := reason.Number("low_ratio")
	high, _ := reason.Number("high_ratio")
	if needed, known := reason.Number("needed_rounds"); !known || needed < 200 || low > -0.9 || high < 9 {
		t.Errorf("%+v: the figures keep the interval and the rounds in all", reason)
	}
}
