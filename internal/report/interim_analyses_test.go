package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/stats"
	"soku/internal/text"
)

// closePair is two patterns whose difference is shown by a test at 5 % and not by one at 0.7 %.
func closePair() Input {
	return campaignOf(map[string][]float64{
		"a": {1.031e9, 1.002e9, 1.04e9, 0.999e9, 1.028e9, 1.013e9, 1.035e9, 0.994e9},
		"b": {1e9, 1e9, 1e9, 1e9, 1e9, 1e9, 1e9, 1e9},
	})
}

func upTo(most int) func(int) stats.Looks {
	return func(int) stats.Looks { return stats.LooksUpTo(most) }
}

func TestAReportDecidesAtTheLevelOfTheLooks(t *testing.T) {
	for _, c := range []struct {
		until Until
		code  AnswerCode
		open  int
		said  string
	}{
		{Until{}, AnswerBest, 0, ""},
		{Until{Looks: upTo(8), MaxRounds: 8}, AnswerBest, 0, "each look decides at 2.83 %, not at 5 %"},
		{Until{Looks: upTo(40), MaxRounds: 40}, AnswerNoDifference, 1, "The comparison is not decided after 8 rounds of at most 40 (until): b against a. The campaign looked"},
		{Until{Looks: upTo(0)}, AnswerNoDifference, 1, "not decided after 8 rounds: b against a. The campaign looked after every round whether its comparisons were decided, and decides by e-values"},
		{Until{Looks: upTo(40), MaxRounds: 40, Tests: []string{"other"}}, AnswerBest, 0, ""},
	} {
		in := closePair()
		in.Design.Until, in.Design.Practical = c.until, 0.001
		r := build(t, in)
		test := r.test(t, "tcp")
		if test.Answer.Code != c.code {
			t.Errorf("%+v: %s, want %s", c.until, test.Answer.Code, c.code)
		}
		var b bytes.Buffer
		if err := r.Markdown(&b, text.English()); err != nil {
			t.Fatal(err)
		}
		if said := strings.Contains(b.String(), "looked after every round"); said != (c.said != "") || !strings.Contains(b.String(), c.said) {
			t.Errorf("%+v: the report has not %q:\n%s", c.until, c.said, b.String())
		}
		for _, caveat := range test.Caveats {
			if d := caveat.Decided; d != nil && (d.Open != c.open || d.Compared != 1 || d.Against != stats.AgainstBest) {
				t.Errorf("%+v: %+v", c.until, d)
			}
		}
	}
}

func TestChoicesOfACampaignThatLookedAreComparedAtItsLevel(t *testing.T) {
	for _, c := range []struct {
		looks    func(int) stats.Looks
		decision stats.Decision
		rule     string
		higher   string // with the decimals of its interval
	}{
		{nil, stats.Better, "", "1.8"},
		{upTo(8), stats.Better, `"looks":{"level_ratio":0.0283}`, "1.76"},
		{upTo(40), stats.NotShown, `"looks":{"level_ratio":0.007}`, "1.8"},
		{upTo(0), stats.NotShown, `"looks":{"e_values":true}`, "1.8"},
	} {
		var choices []*Choice
		for _, name := range []string{"b", "a"} {
			choice := NewChoice(name, nil)
			choice.Until.Looks = c.looks
			for _, r := range closePair().Results {
				if r.Trial.Pattern == name {
					choice.Add(r)
				}
			}
			choices = append(choices, choice)
		}
		compared, err := Compare(choices, CompareOptions{Practical: 0.001})
		if err != nil {
			t.Fatal(err)
		}
		if got := compared.Tests[0].Pairs[0].Decision; got != c.decision {
			t.Errorf("%s, want %s", got, c.decision)
		}
		doc, err := json.Marshal(compared)
		if err != nil || strings.Contains(string(doc), `"looks"`) != (c.rule != "") || !strings.Contains(string(doc), c.rule) {
			t.Errorf("%v: %s has not %s", err, doc, c.rule)
		}
		line := compared.Standing(text.English(), 8)
		if !strings.HasSuffix(line, " %)") || !strings.HasPrefix(line, "after 8 rounds: a: goodput "+c.higher+" % higher (95 % interval ") {
			t.Errorf("%s", line)
		}
	}
}

// Of a store that has only some rounds, and of trials that failed, the number of the last round
// says how often the campaign looked.
func TestTheLastRoundSaysHowOftenACampaignLooked(t *testing.T) {
	const most = 8
	until := Until{Looks: func(rounds int) stats.Looks { return stats.LooksUpTo(max(most, rounds)) }, MaxRounds: most}
	for _, c := range []struct {
		last     int
		decision stats.Decision
		beyond   bool
	}{{most, stats.Better, false}, {40, stats.NotShown, true}} {
		in := closePair()
		in.Design.Until, in.Design.Practical = until, 0.001
		choices := map[string]*Choice{}
		for _, name := range []string{"b", "a"} {
			choices[name] = NewChoice(name, nil)
			choices[name].Until = until
		}
		for _, r := range in.Results {
			r.Trial.Round += c.last - most
			if r.Trial.Round == c.last && r.Trial.Pattern == "b" {
				r.Error = measure.TextError(measure.KindRefused, "refused", "")
			}
			choices[r.Trial.Pattern].Add(r)
		}
		test := build(t, in).test(t, "tcp")
		at := slices.IndexFunc(test.Caveats, func(c Caveat) bool { return c.Code == CaveatDecided })
		if (test.Answer.Code == AnswerBest) != (c.decision == stats.Better) || at < 0 || test.Caveats[at].Decided.Looks.BeyondMaximum != c.beyond {
			t.Errorf("round %d: %s, %+v", c.last, test.Answer.Code, test.Caveats)
		}
		if said := english(test).caveat(test.Caveats[at]); strings.HasSuffix(said, "; rounds beyond the most that the plan allows add to that.") != c.beyond {
			t.Error(said)
		}
		compared, err := Compare([]*Choice{choices["b"], choices["a"]}, CompareOptions{Practical: 0.001})
		if err != nil {
			t.Fatal(err)
		}
		tcp := compared.Tests[0]
		if p, rule := tcp.Pairs[0], tcp.interim.rule(); p.Decision != c.decision || rule.BeyondMaximum != c.beyond {
			t.Errorf("round %d: %s, %+v", c.last, p.Decision, rule)
		}
		// The interval of a pair by itself is that of the looks, too.
		if i := tcp.Interval(tcp.Pairs[0], 0.95); (i.Low > 0) != (c.decision == stats.Better) {
			t.Errorf("round %d: %+v", c.last, i)
		}
	}
}
