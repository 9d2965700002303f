package check

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/report"
	"soku/internal/stats"
	"soku/internal/text"
	"soku/test/hostile"
)

// junitSuites is what readers of JUnit XML take from it.
type junitSuites struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Suite    struct {
		Name  string `xml:"name,attr"`
		Cases []struct {
			Class   string        `xml:"classname,attr"`
			Name    string        `xml:"name,attr"`
			Failure *junitProblem `xml:"failure"`
			Error   *junitProblem `xml:"error"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
}

// trial is a result of a campaign, without figures.
func trial(campaign, label string, test measure.Test, round int, levels ...measure.Level) *measure.Result {
	return &measure.Result{
		Schema: measure.Schema, ID: fmt.Sprintf("%s-%s-%s-%d", campaign, label, measure.JoinLevels(levels), round), Test: test,
		StartedAt: time.Date(2026, 11, 1, 12, round, 0, 0, time.UTC),
		Trial: &measure.Trial{Campaign: campaign, Label: label, Round: round, Repeat: 1, Pattern: measure.JoinLevels(levels), Levels: levels,
			Session: &measure.Session{ID: campaign, Number: 1}},
	}
}

// goodputs are trials of a TCP test, one a round.
func goodputs(campaign, sku string, mbits ...float64) (out []*measure.Result) {
	for i, v := range mbits {
		r := trial(campaign, "up", measure.TestTCP, i+1, measure.Level{Factor: "sku", Value: sku})
		r.Summary.GoodputBps = v * 1e6
		out = append(out, r)
	}
	return out
}

// roundTrips returns trials of a latency test, one a round, with each exponential round trips.
func roundTrips(campaign, sku string, rounds, each int, mean time.Duration) (out []*measure.Result) {
	source := rand.New(rand.NewPCG(1, uint64(each)))
	for i := range rounds {
		r := trial(campaign, "rtt", measure.TestLatency, i+1, measure.Level{Factor: "sku", Value: sku})
		r.Latency = &measure.Latency{Histogram: measure.NewHistogram()}
		for range each {
			r.Latency.Histogram.Record(int64(source.ExpFloat64() * float64(mean)))
		}
		out = append(out, r)
	}
	return out
}

func failed(r *measure.Result) *measure.Result {
	r.Error = measure.Fail(measure.KindUnreachable, "dial.refused", measure.Figures{"address": "192.0.2.1:7658"})
	return r
}

func choice(name string, results ...[]*measure.Result) *report.Choice {
	c := report.NewChoice(name, nil)
	for _, r := range slices.Concat(results...) {
		c.Add(r)
	}
	return c
}

func judge(t *testing.T, subject *report.Choice, baseline *report.Choice, rules string) (*Outcome, error) {
	t.Helper()
	r, err := Parse("r.yaml", []byte("rules:\n"+rules))
	if err != nil {
		t.Fatal(err)
	}
	return r.Judge(subject, func(string) (*report.Choice, error) { return baseline, nil })
}

func TestABaselineIsReadOnce(t *testing.T) {
	r, err := Parse("r.yaml", []byte("rules: [{check: goodput no worse than before}, {check: goodput better than other}, {check: interval of goodput <= 9 %}, {check: no worse than before by 3 %}]"))
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	_, err = r.Judge(choice("now", goodputs("now", "a", 1000, 1001)), func(name string) (*report.Choice, error) {
		asked = append(asked, name)
		return choice(name, goodputs(name, "a", 1000, 1001)), nil
	})
	if want := []string{"before", "other"}; err != nil || !slices.Equal(asked, want) {
		t.Errorf("asked for %q, want %q; %v", asked, want, err)
	}
}

func TestWhatKeepsABaselineFromBeingReadIsNoMistakeInTheRules(t *testing.T) {
	r, err := Parse("r.yaml", []byte("rules: [{check: goodput no worse than before}]"))
	if err != nil {
		t.Fatal(err)
	}
	for kind, located := range map[measure.Kind]bool{measure.KindStore: false, measure.KindInterrupted: false, measure.KindNotFound: true} {
		_, err := r.Judge(choice("now", goodputs("now", "a", 1000, 1001)), func(string) (*report.Choice, error) {
			return nil, measure.Fail(kind, "store.no_result", measure.Figures{"result": "before", "store": "soku.db"})
		})
		want := kind
		if located {
			want = measure.KindFile
		}
		if measure.KindOf(err) != want || strings.HasPrefix(err.Error(), "r.yaml:1:") != located {
			t.Errorf("%s: %s, %v", kind, measure.KindOf(err), err)
		}
	}
}

func TestARuleHoldsWhereItsIntervalIsOnTheGoodSide(t *testing.T) {
	// Student's t interval at 95 %: 1000 ± 12.4 Mbit/s, a half-width of 1.24 %.
	subject := choice("now", goodputs("now", "a", 990, 1000, 1010, 990, 1010))
	// Comparisons take six rounds.
	longer := choice("now", goodputs("now", "a", 990, 1000, 1010, 990, 1010, 1000))
	before := choice("before", goodputs("before", "a", 990, 1000, 1010, 1000, 990, 1010))
	half := choice("half", goodputs("half", "a", 495, 500, 505, 500, 495, 505))
	for rule, want := range map[string]struct {
		verdict Verdict
		reason  Reason
	}{
		"goodput >= 987 Mbit/s":            {Holds, ""},
		"goodput >= 988 Mbit/s":            {NotShown, Crosses},
		"goodput >= 1012 Mbit/s":           {NotShown, Crosses},
		"goodput >= 1013 Mbit/s":           {DoesNotHold, ""},
		"goodput <= 1013 Mbit/s":           {Holds, ""},
		"goodput <= 1000 Mbit/s":           {NotShown, Crosses},
		"goodput <= 987 Mbit/s":            {DoesNotHold, ""},
		"goodput >= 988 Mbit/s at 90 %":    {Holds, ""},
		"interval of goodput <= 1.25 %":    {Holds, ""},
		"interval of goodput <= 1.23 %":    {DoesNotHold, ""},
		"failed <= 0 %":                    {Holds, ""},
		"no worse than before by 3 %":      {Holds, ""},
		"no worse than before by 0.5 %":    {NotShown, Crosses},
		"same as before within 3 %":        {Holds, ""},
		"same as half within 3 %":          {DoesNotHold, ""},
		"better than half by 90 %":         {Holds, ""},
		"better than before":               {NotShown, Crosses},
		"better than before by 5 %":        {DoesNotHold, ""},
		"goodput better than half by 99 %": {NotShown, Crosses},
	} {
		baseline := before
		if strings.Contains(rule, "half") {
			baseline = half
		}
		judged := subject
		if strings.Contains(rule, "before") || strings.Contains(rule, "half") {
			judged = longer
		}
		o, err := judge(t, judged, baseline, "  - check: "+rule)
		if err != nil {
			t.Errorf("%s: %v", rule, err)
			continue
		}
		if p := o.Rules[0].Patterns; len(p) != 1 || p[0].Verdict != want.verdict || p[0].Reason != want.reason || o.Verdict() != want.verdict {
			t.Errorf("%s: %+v, want %v", rule, p, want)
		}
	}
}

func TestAPercentileOfAllRoundsHasTheIntervalOfWoodruff(t *testing.T) {
	// The p99 of exponential round trips is ln 100 times their mean: 4.6 ms.
	results := roundTrips("now", "a", 10, 5000, time.Millisecond)
	subject := choice("now", results)
	for rule, want := range map[string]Verdict{
		"rtt_p99 <= 5 ms": Holds, "rtt_p99 <= 4.6 ms": NotShown, "rtt_p99 <= 4 ms": DoesNotHold, "rtt_p50 <= 0.75 ms at 99 %": Holds,
	} {
		o, err := judge(t, subject, nil, "  - check: "+rule)
		if err != nil || o.Verdict() != want {
			t.Errorf("%s: %+v %v, want %s", rule, o, err, want)
		}
	}
	o, err := judge(t, subject, nil, "  - check: rtt_p99 <= 5 ms")
	if err != nil {
		t.Fatal(err)
	}
	// The same by counting: the share above the percentile in each round.
	p := o.Rules[0].Patterns[0]
	var shares []float64
	for _, r := range results {
		above := int64(0)
		for _, b := range r.Latency.Histogram.Buckets() {
			if float64(b.From) > p.Value {
				above += b.Count
			}
		}
		shares = append(shares, float64(above)/5000)
	}
	if mean := stats.Mean(shares); math.Abs(mean-0.01) > 0.0002 || !(p.Low < p.Value && p.Value < p.High) || p.High-p.Low > 0.5e6 {
		t.Errorf("%+v, with %v above", p, mean)
	}
	few := choice("few", roundTrips("few", "a", 10, 500, time.Millisecond))
	if o, err := judge(t, few, nil, "  - check: rtt_p99 <= 50 ms"); err != nil || o.Rules[0].Patterns[0].Reason != FewSamples {
		t.Errorf("5 round trips beyond the percentile in a round: %+v %v", o, err)
	}
}

func TestWhatIsNotMeasuredEnoughIsNotShown(t *testing.T) {
	one := choice("one", goodputs("one", "a", 1000))
	var broken []*measure.Result
	for _, r := range goodputs("x", "b", 1, 2) {
		broken = append(broken, failed(r))
	}
	for name, c := range map[string]struct {
		subject *report.Choice
		rule    string
		want    Reason
	}{
		"one round":              {one, "goodput >= 1 Mbit/s", FewRounds},
		"the width of one round": {one, "interval of goodput <= 50 %", FewRounds},
		"one against another":    {one, "no worse than before by 50 %", FewRounds},
		"all trials failed":      {choice("x", broken), "goodput >= 1 Mbit/s", NoValue},
	} {
		o, err := judge(t, c.subject, choice("before", goodputs("before", "a", 1000)), "  - check: "+c.rule)
		if err != nil || o.Verdict() != NotShown || o.Rules[0].Patterns[0].Reason != c.want {
			t.Errorf("%s: %+v %v, want %s", name, o, err, c.want)
		}
		if measure.KindOf(o.Err()) != measure.KindNotShown {
			t.Errorf("%s: %v", name, o.Err())
		}
	}
}

func TestRulesAreOfTheTestsAndPatternsThatTheySelect(t *testing.T) {
	subject := choice("now",
		goodputs("now", "a", 990, 1000, 1010, 990, 1000, 1010), goodputs("now", "b", 490, 500, 510),
		roundTrips("now", "a", 3, 2000, time.Millisecond),
		[]*measure.Result{failed(trial("now", "rtt", measure.TestLatency, 4, measure.Level{Factor: "sku", Value: "a"}))})
	o, err := judge(t, subject, nil, `
  - {name: all, check: goodput >= 700 Mbit/s}
  - {name: of one, where: {sku: a}, check: goodput >= 700 Mbit/s}
  - {name: by kind, test: tcp, where: {sku: [b, c]}, check: goodput <= 600 Mbit/s}
  - {name: by label, test: rtt, check: rtt_p50 <= 2 ms}
  - {name: failures, test: rtt, check: failed <= 10 %}
  - {name: no failures, test: up, check: failed <= 0 %}
`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range o.Rules {
		line := fmt.Sprintf("%d %s: %s", r.Line, r.Name, r.Verdict)
		for _, p := range r.Patterns {
			line += fmt.Sprintf(", %s %s %s", p.Label, p.Pattern, p.Verdict)
		}
		got = append(got, line)
	}
	want := []string{
		"3 all: does_not_hold, up a holds, up b does_not_hold",
		"4 of one: holds, up a holds",
		"5 by kind: holds, up b holds",
		"6 by label: holds, rtt a holds",
		"7 failures: does_not_hold, rtt a does_not_hold",
		"8 no failures: holds, up a holds, up b holds",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant %s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if err := o.Err(); measure.KindOf(err) != measure.KindNotHeld || !strings.Contains(err.Error(), "2 of 6 rules do not hold") {
		t.Errorf("%v", err)
	}
	for rule, want := range map[string]string{
		"{where: {sku: c}, check: goodput >= 1G}":         "r.yaml:2:30: rules.1.check: the rule selects no trial of now; its tests are up, rtt; its patterns: a; b",
		"{test: rtt, check: goodput >= 1G}":               "no selected test has the figure goodput_bps",
		"{test: up, check: rtt_p99 no worse than before}": "rules.1.check: no selected test has the figure rtt_p99_ns",
	} {
		if _, err := judge(t, subject, choice("before", goodputs("before", "a", 1, 2)), "  - "+rule); err == nil || !strings.Contains(err.Error(), want) || measure.KindOf(err) != measure.KindFile {
			t.Errorf("%s: %v, want %q", rule, err, want)
		}
	}
}

func TestEveryFormSaysTheSame(t *testing.T) {
	subject := choice("now", goodputs("now", "a", 990, 1000, 1010, 990, 1000, 1010), goodputs("now", "b", 490, 500, 510), goodputs("now", "c", 700))
	o, err := judge(t, subject, choice("before", goodputs("before", "a", 990, 1000, 1010, 990, 1000, 1010)), `
  - {name: enough, check: goodput >= 700 Mbit/s}
  - {where: {sku: a}, check: no worse than before by 3 %}
`)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Join(o.Lines(text.English()), "\n")
	for _, want := range []string{
		"now: 1 of 2 rules holds, 1 does not",
		"does not hold: enough (goodput >= 700 Mbit/s)\n  does not hold: up, b: 500.0 Mbit/s (95 % interval 475.2 Mbit/s to 524.8 Mbit/s), 3 rounds\n  not shown: up, c: 700.0 Mbit/s, 1 round; one round has no interval\n  holds: up, a: 1.000 Gbit/s",
		"holds: no worse than before by 3 %\n  holds: up: equal to the baseline (95 % interval −1.1 to 1.2 %), 6 rounds, measured in another session",
	} {
		if !strings.Contains(lines, want) {
			t.Errorf("the text lacks %q:\n%s", want, lines)
		}
	}
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var j outcomeJSON
	if err := json.Unmarshal(b, &j); err != nil || j.Verdict != DoesNotHold || len(j.Rules) != 2 || len(j.Rules[0].Patterns) != 3 || *j.Rules[0].Patterns[0].Low < 975e6 || j.Rules[0].Patterns[2].Low != nil {
		t.Errorf("%s %v", b, err)
	}
	b = o.JUnit()
	var suites junitSuites
	if err := xml.Unmarshal(b, &suites); err != nil || suites.Tests != 4 || suites.Failures != 1 || suites.Errors != 1 || suites.Suite.Cases[1].Failure.Type != "does_not_hold" || suites.Suite.Cases[2].Error == nil {
		t.Errorf("%s %v", b, err)
	}
	md := o.Markdown(text.English())
	for _, want := range []string{"### ❌ soku check: now: 1 of 2 rules holds", "| verdict | rule | pattern | measured |\n| --- | --- | --- | --- |\n| does not hold | enough | up, b | 500.0 Mbit/s"} {
		if !strings.Contains(md, want) {
			t.Errorf("the Markdown lacks %q:\n%s", want, md)
		}
	}
}

func TestAShareOfTheLimitIsOfThePatternsThatHaveOne(t *testing.T) {
	subject := choice("now", goodputs("now", "a", 940, 950, 960), goodputs("now", "b", 690, 700, 710), goodputs("now", "c", 1, 2, 3))
	subject.Limits = func(r *measure.Result) []measure.Limit {
		if sku := r.Trial.Levels[0].Value; sku != "c" {
			return []measure.Limit{{Metric: "goodput_bps", Value: 1e9, Of: "sku=" + sku}}
		}
		return nil
	}
	o, err := judge(t, subject, nil, "  - check: goodput >= 90 % of limit")
	if err != nil {
		t.Fatal(err)
	}
	if p := o.Rules[0].Patterns; len(p) != 2 || p[0].Verdict != Holds || p[1].Verdict != DoesNotHold || math.Abs(p[0].Value-0.95) > 1e-9 {
		t.Errorf("%+v", p)
	}
	if lines := strings.Join(o.Lines(text.English()), "\n"); !strings.Contains(lines, "up, a: 95.0 % of the limit 1.000 Gbit/s of sku=a (95 % interval 92.5 % to 97.5 %), 3 rounds") {
		t.Error(lines)
	}
	if _, err := judge(t, subject, nil, "  - {where: {sku: c}, check: goodput >= 90 % of limit}"); err == nil || !strings.Contains(err.Error(), "has a limit of goodput_bps") {
		t.Error(err)
	}
}

func TestTheSmallestDifferenceThatMattersIsThatOfThePlan(t *testing.T) {
	subject, before := choice("now", goodputs("now", "a", 949, 950, 951, 949, 950, 951)), choice("before", goodputs("before", "a", 999, 1000, 1001, 999, 1000, 1001))
	for practical, want := range map[float64]Verdict{0: DoesNotHold, 0.1: Holds} {
		subject.Practical = practical
		if o, err := judge(t, subject, before, "  - check: no worse than before"); err != nil || o.Verdict() != want {
			t.Errorf("%v: %+v %v, want %s", practical, o, err, want)
		}
	}
}

func TestHostileTextsAreHarmlessInEveryForm(t *testing.T) {
	const evil = "\x1b[31m<b>|@all\u202e"
	subject := choice(evil, goodputs(evil, evil, 1, 2, 3))
	for _, r := range subject.Results {
		r.Trial.Label = evil
	}
	o, err := judge(t, subject, nil, "  - {name: '<i>|', check: goodput >= 700 Mbit/s}\n")
	if err != nil {
		t.Fatal(err)
	}
	md := o.Markdown(text.English())
	hostile.Clean(t, "Markdown", md)
	if strings.Contains(md, "<b>") || strings.Contains(md, "@all") || strings.Contains(md, "<i>") {
		t.Errorf("%s", md)
	}
	b := o.JUnit()
	if err := xml.Unmarshal(b, new(junitSuites)); err != nil {
		t.Errorf("%v: %s", err, b)
	}
	hostile.Clean(t, "JUnit", string(b))
}

func TestOneTestThatAPersonNamesIsJudgedByItsFigures(t *testing.T) {
	for rule, want := range map[string]Verdict{
		"goodput >= 900 Mbit/s": Holds, "goodput >= 1000 Mbit/s": DoesNotHold, "goodput <= 900 Mbit/s": DoesNotHold, "goodput <= 1 Gbit/s": Holds, "goodput >= 940 Mbit/s": Holds, "goodput <= 940 Mbit/s": Holds,
		"failed <= 0 %": Holds, "interval of goodput <= 3 %": NotShown, "no worse than before by 3 %": NotShown,
	} {
		for _, single := range []bool{true, false} {
			subject := choice("r.json", goodputs("r.json", "a", 940))
			subject.Single = single
			out, err := judge(t, subject, choice("before", goodputs("before", "a", 940, 941)), "  - check: "+rule)
			if err != nil {
				t.Fatal(err)
			}
			expected := want
			if !single && !strings.HasPrefix(rule, "failed") { // one round of a campaign
				expected = NotShown
			}
			doc, err := json.Marshal(out)
			alone := single && strings.HasPrefix(rule, "goodput")
			if out.Verdict() != expected || err != nil || strings.Contains(string(doc), `"single":true`) != alone || strings.Contains(strings.Join(out.Lines(text.English()), ""), "one test without an interval") != alone {
				t.Errorf("%s, single %t: %s, want %s: %s", rule, single, out.Verdict(), expected, doc)
			}
		}
	}
}
