package check

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/report"
	"soku/internal/text"
)

// judgeAll judges trials by one rule.
func judgeAll(t *testing.T, check string, results []*measure.Result) *Outcome {
	t.Helper()
	rules, err := Parse("rules.yaml", []byte("rules: [{check: '"+check+"'}]"))
	if err != nil {
		t.Fatal(err)
	}
	subject := report.NewChoice("now", nil)
	for _, r := range results {
		subject.Add(r)
	}
	out, err := rules.Judge(subject, func(string) (*report.Choice, error) {
		base := report.NewChoice("before", nil)
		for i := range 20 {
			for _, r := range goodputs("before", fmt.Sprint("sku", i), 1000, 1000.1, 999.9, 1000, 1000.2, 1000) {
				base.Add(r)
			}
		}
		return base, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// atThreshold are patterns whose true goodput is 1000 Mbit/s.
func atThreshold(seed uint64, patterns int) (out []*measure.Result) {
	source := rand.New(rand.NewPCG(seed, 5))
	for i := range patterns {
		mbits := make([]float64, 6)
		for round := range mbits {
			mbits[round] = 1000 + 10*source.NormFloat64()
		}
		out = append(out, goodputs("now", fmt.Sprint("sku", i), mbits...)...)
	}
	return out
}

func TestARuleOfManyPatternsSeldomFailsByChance(t *testing.T) {
	failing, alone := 0, 0
	const campaigns = 200
	for seed := range uint64(campaigns) {
		out := judgeAll(t, "goodput >= 1000 Mbit/s", atThreshold(seed, 20))
		if out.Verdict() == DoesNotHold {
			failing++
		}
		if slices.ContainsFunc(out.Rules[0].Patterns, func(j Judgement) bool { return j.Reason == Chance || j.Verdict == DoesNotHold }) {
			alone++
		}
	}
	// 2.5 % are expected after the correction, 1-0.975^20 = 40 % without it.
	if failing > 16 || alone < 50 {
		t.Errorf("of %d campaigns %d fail, %d with a pattern that does by itself", campaigns, failing, alone)
	}
}

func TestPatternsThatDoNotHoldAreFoundStepByStep(t *testing.T) {
	for check, want := range map[string][]float64{
		"goodput >= 990 Mbit/s":         {980, 980, 988.94},
		"goodput no worse than x by 1%": {980, 980, 988.68},
	} {
		var results []*measure.Result
		for i, mean := range []float64{want[0], want[1], want[2], 1010, 1011} {
			results = append(results, goodputs("now", fmt.Sprint("sku", i), mean+0.8, mean-1, mean+0.9, mean-1.1, mean+0.4, mean)...)
		}
		out := judgeAll(t, check, results)
		var verdicts []Verdict
		for _, p := range out.Rules[0].Patterns {
			verdicts = append(verdicts, p.Verdict)
		}
		// At 95 % the third does not hold; at 95 % of five it would not be shown; but two do not hold for sure, and three are left.
		if !slices.Equal(verdicts, []Verdict{DoesNotHold, DoesNotHold, DoesNotHold, Holds, Holds}) {
			t.Errorf("%s: %v", check, verdicts)
		}
		// Together with four that hold, it is not shown.
		for _, r := range results[:12] {
			r.Summary.GoodputBps += 30e6
		}
		out = judgeAll(t, check, results)
		p := out.Rules[0].Patterns[2]
		if p.Verdict != NotShown || p.Reason != Chance || out.Verdict() != NotShown {
			t.Errorf("%s: %s %s, %s", check, p.Verdict, p.Reason, out.Verdict())
		}
		said := strings.Join(out.Lines(text.English()), "\n")
		doc, err := json.Marshal(out)
		if err != nil || !strings.Contains(said, "which of 5 patterns some are by chance") || !strings.Contains(string(doc), `"tested":5,"correction":"holm"`) || !strings.Contains(string(doc), `"reason":"chance"`) {
			t.Errorf("%s: %v\n%s\n%s", check, err, said, doc)
		}
		// By itself it does not hold.
		out = judgeAll(t, check, results[12:18])
		doc, _ = json.Marshal(out)
		if out.Verdict() != DoesNotHold || strings.Contains(string(doc), "correction") {
			t.Errorf("%s: one pattern: %s %s", check, out.Verdict(), doc)
		}
	}
}
