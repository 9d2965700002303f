package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/measure/option"
	"soku/internal/stats"
	"soku/internal/text"
)

// choose is a choice of one pattern, with a value a round.
func choose(name, campaign string, change func(*measure.Result), values ...float64) *Choice {
	c := NewChoice(name, nil)
	for i, v := range values {
		r := &measure.Result{
			Schema: measure.Schema, ID: fmt.Sprint(name, i), Test: measure.TestTCP, Options: option.Defaults(measure.TestTCP), StartedAt: time.Unix(int64(i), 0),
			Trial:   &measure.Trial{Campaign: campaign, Label: "up", Pattern: name, Levels: []measure.Level{{Factor: "sku", Value: name}}, Round: i + 1, Repeat: 1, Order: 1},
			Flows:   []measure.Flow{{RXPath: "read"}},
			Summary: measure.Summary{GoodputBps: v},
		}
		if change != nil {
			change(r)
		}
		c.Add(r)
	}
	return c
}

func comparedText(t *testing.T, c *Comparisons) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.Text(&b, text.English(), 0, true); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func inRun(n int) func(*measure.Result) {
	return func(r *measure.Result) { r.Trial.Session = &measure.Session{ID: fmt.Sprint(n), Number: n} }
}

func TestRunsOfOneCampaignAreDifferentSessions(t *testing.T) {
	a, b := []float64{100, 110, 90, 105}, []float64{120, 133, 109, 126}
	for _, c := range []struct {
		what   string
		b      *Choice
		rounds int
	}{
		{"one run", choose("b", "c", inRun(1), b...), 4},
		{"another run", choose("b", "c", inRun(2), b...), 0},
		{"another campaign", choose("b", "d", inRun(1), b...), 0},
		{"two rounds of the run", choose("b", "c", func(r *measure.Result) { inRun(1 + r.Trial.Round/3)(r) }, b...), 2},
	} {
		got, err := Compare([]*Choice{choose("a", "c", inRun(1), a...), c.b}, CompareOptions{Practical: 0.02})
		if err != nil {
			t.Fatal(err)
		}
		p := got.Tests[0].Pairs[0]
		if p.Rounds != c.rounds || p.Apart != (c.rounds == 0) {
			t.Errorf("%s: %+v", c.what, p)
		}
		if said := strings.Contains(comparedText(t, got), "Measured in different sessions"); said != p.Apart {
			t.Errorf("%s: %s", c.what, comparedText(t, got))
		}
	}
}

func TestComparisonsSayWhatLimitsThem(t *testing.T) {
	fail := func(r *measure.Result) {
		if r.Trial.Round == 2 {
			r.Error = measure.Fail(measure.KindBroken, "report.pivot", nil)
		}
	}
	varied := func(r *measure.Result) { r.Options.Streams = 8 }
	ingested := func(r *measure.Result) { r.Origin = &measure.Origin{} }
	for _, c := range []struct {
		choice *Choice
		want   string
	}{
		{choose("b", "c", fail, 100, 1, 101, 103), "1 of 4 trials of b failed or has no figure; it is left out."},
		{choose("b", "c", varied, 100, 102, 101, 103), "Options that differ: streams 1, 8."},
		{choose("b", "c", ingested, 100, 102, 101, 103), text.English().Sentence("caveat.order_unknown", nil)},
		{choose("b", "c", nil, 0, 102, 101, 103), "1 of 4 trials of b failed or has no figure"},
		{choose("b", "c", nil, 50, 200, 60, 170), "More than 1000 rounds would be needed to show a difference of 0.05 %."},
		{choose("b", "c", nil, 200, 202, 203, 201), "b was better than a in 4 of 4 rounds: goodput 2.0 × as high"},
		{choose("b", "c", nil, 100), "not tested, because that takes three rounds"},
		{choose("b", "c", nil, 204, 206, 207, 205, 204, 206), "b is better than a: goodput 2.0 × as high"},
		{choose("b", "c", nil, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112), "Neighbouring rounds are alike"},
	} {
		a := choose("a", "c", nil, 100, 101, 102, 100, 101, 102, 100, 101, 102, 100, 101, 102, 100, 101)
		got, err := Compare([]*Choice{a, c.choice}, CompareOptions{Practical: 0.0005})
		if err != nil {
			t.Fatal(err)
		}
		if said := comparedText(t, got); !strings.Contains(said, c.want) {
			t.Errorf("no %q in %s", c.want, said)
		}
	}
}

func TestChoicesWithNothingInCommonAreNotCompared(t *testing.T) {
	a := choose("a", "c", nil, 1, 2)
	for code, b := range map[string]*Choice{
		"report.compare.failed":  choose("b", "c", func(r *measure.Result) { r.Error = measure.Fail(measure.KindBroken, "report.pivot", nil) }, 1, 2),
		"report.compare.shared":  a,
		"report.compare.tests":   choose("b", "c", func(r *measure.Result) { r.Test = measure.TestLatency }, 1, 2),
		"report.compare.capture": choose("b", "c", func(r *measure.Result) { r.Flows[0].RXPath = "discard" }, 1, 2),
		"report.compare.patterns": choose("b", "c", func(r *measure.Result) {
			r.Trial.Levels = append(r.Trial.Levels, measure.Level{Factor: "zone", Value: r.ID})
		}, 1, 2),
	} {
		_, err := Compare([]*Choice{a, b}, CompareOptions{Practical: 0.02})
		if e := measure.AsError(err, measure.KindInternal); e == nil || e.Code != code || e.Kind != measure.KindUsage || e.Hint == "" {
			t.Errorf("%v, want code %s", err, code)
		}
	}
	// Labels matter where a choice has several of a kind.
	two := choose("b", "c", func(r *measure.Result) { r.Trial.Label = fmt.Sprint("down", r.Trial.Round) }, 1, 2)
	if _, err := Compare([]*Choice{a, two}, CompareOptions{Practical: 0.02}); err == nil || !strings.Contains(err.Error(), "a has the tests up") && !strings.Contains(err.Error(), "has up") {
		t.Errorf("labels: %v", err)
	}
	one := choose("b", "d", func(r *measure.Result) { r.Trial.Label = "down" }, 1, 2)
	if got, err := Compare([]*Choice{a, one}, CompareOptions{Practical: 0.02}); err != nil || got.Tests[0].Label != "tcp" {
		t.Errorf("the only tests of a kind: %+v, %v", got, err)
	}
}

func TestComparisonsInJSONHaveNoFigureThatIsMissing(t *testing.T) {
	got, err := Compare([]*Choice{choose("a", "c", nil, 1), choose("b", "c", nil, 4, 4, 4), choose("w", "c", nil, 1, 1e6, 2)}, CompareOptions{Practical: 0.001, AllPairs: true})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"a":"b","b":"a","a_value":4,"b_value":1,"a_rounds":3,"b_rounds":1,"ratio":4,"decision":"not_shown","reason":"one_round","paired_rounds":0,"apart":false,"text"`, `"more_rounds":[null,null]`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in %s", want, b)
		}
	}
}

// Every decision has one sentence that names both choices.
func TestEveryDecisionIsASentence(t *testing.T) {
	for _, d := range []stats.Decision{stats.Better, stats.Worse, stats.Same, stats.NotShown} {
		for _, further := range []stats.FurtherRounds{{}, {Least: 2, Likely: 3, Most: 9}, {Least: 4, Likely: 4, Most: 4}, {Least: 4, Likely: 900, Most: -1}, {Least: -1, Likely: -1, Most: -1}, {Least: 0, Likely: 1, Most: 2}} {
			test := ComparedTest{Test: measure.TestTCP, Metric: metric.Goodput, Choices: []ComparedChoice{{Name: "a", Rounds: 3}, {Name: "b", Rounds: 4}}}
			p := ComparedPair{A: 0, B: 1, ChoiceComparison: stats.ChoiceComparison{Ratio: 1.02, Low: 0.98, High: 1.04, P: 0.4, Adjusted: 0.4, SameP: 0.3, Decision: d, Further: func() stats.FurtherRounds { return further }}}
			s := comparedView{&Comparisons{Practical: 0.02, Tests: []ComparedTest{test}}, &test, text.English()}.decision(p)
			if !strings.Contains(s, "a ") || !strings.Contains(s, "b") || !strings.Contains(s, ": goodput 2.0 % higher (95 % interval −2.0 to 4.0 %)") || strings.Contains(s, "-1") || strings.Contains(s, "<no value>") || !strings.HasSuffix(s, ".") {
				t.Errorf("%s, %+v: %s", d, further, s)
			}
		}
	}
	test := ComparedTest{Test: measure.TestTCP, Metric: metric.Goodput, Choices: []ComparedChoice{{Name: "a"}, {Name: "b"}}}
	v := comparedView{&Comparisons{Practical: 0.02, Tests: []ComparedTest{test}}, &test, text.English()}
	nan := math.NaN()
	for reason, want := range map[stats.Untested]string{stats.OneRound: "goodput 3.0 % lower, not tested", stats.NoRatio: "not tested, because the goodput of a round is 0", stats.Unpaired: "goodput 3.0 % lower, not tested: the campaign decides by e-values"} {
		if s := v.decision(ComparedPair{A: 0, B: 1, ChoiceComparison: stats.ChoiceComparison{Ratio: 0.97, Low: nan, High: nan, P: nan, Untested: reason}}); !strings.HasPrefix(s, "a against b: "+want) {
			t.Errorf("%s: %s", reason, s)
		}
	}
}
