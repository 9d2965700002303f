package check

import (
	"math"

	"soku/internal/text"
)

// ruleView is a rule with the language that its texts are made in.
type ruleView struct {
	*RuleOutcome
	*text.Catalogue
}

// mostShown is how many patterns of a rule a person gets to see: those that do not hold come
// first.
const mostShown = 20

// Lines are the outcome as lines for a terminal: a heading, and for each rule its verdict and
// what was measured.
func (o *Outcome) Lines(c *text.Catalogue) []string {
	lines := []string{o.heading(c)}
	for i := range o.Rules {
		v := ruleView{&o.Rules[i], c}
		lines = append(lines, "", v.Sentence("check.rule", text.Args{"Verdict": v.verdict(v.Verdict), "Name": v.name(), "Check": v.ruleText()}))
		shown, more := v.shown(mostShown)
		for _, p := range shown {
			lines = append(lines, "  "+v.Sentence("check.pattern", text.Args{"Verdict": v.verdict(p.Verdict), "Pattern": v.pattern(p), "Measured": v.measured(p)}))
		}
		if more > 0 {
			lines = append(lines, "  "+v.Sentence("check.more", text.Args{"Patterns": more}))
		}
	}
	return lines
}

func (o *Outcome) heading(c *text.Catalogue) string {
	return c.Sentence("check.heading", text.Args{
		"Subject": o.Subject, "Rules": len(o.Rules), "Hold": o.count(Holds), "Failing": o.count(DoesNotHold), "NotShown": o.count(NotShown),
	})
}

// ruleText returns the check of a rule that has a name, to be printed after the name.
func (v ruleView) ruleText() string {
	if v.Name == "" {
		return ""
	}
	return v.Check.Text
}

func (v ruleView) verdict(of Verdict) string { return v.Sentence("check.verdict."+string(of), nil) }

// shown returns at most most patterns, those that do not hold first, and the number left out.
func (v ruleView) shown(most int) (some []*Judgement, more int) {
	for _, of := range worstFirst {
		for i := range v.Patterns {
			switch {
			case v.Patterns[i].Verdict != of:
			case len(some) == most:
				more++
			default:
				some = append(some, &v.Patterns[i])
			}
		}
	}
	return some, more
}

// pattern names the test and the levels.
func (v ruleView) pattern(p *Judgement) string {
	return v.Sentence("check.where", text.Args{"Label": p.Label, "Pattern": p.Pattern})
}

// measured is what was measured of a pattern, and why it shows nothing if it does not.
func (v ruleView) measured(p *Judgement) string {
	args := text.Args{"Figure": v.figure(p), "Rounds": p.Rounds, "Failed": p.Failed, "Single": p.Single, "Trials": p.Trials + p.Failed, "Apart": p.Apart, "Reason": ""}
	if p.Reason != "" {
		args["Reason"] = v.Sentence("check.reason."+string(p.Reason), text.Args{"Tested": testedIn(v.Patterns), "Compared": v.Check.Baseline != ""})
	}
	return v.Sentence("check.measured", args)
}

// figure is what was measured of a pattern, with its interval.
func (v ruleView) figure(p *Judgement) string {
	tested := !math.IsNaN(p.Low)
	switch e := v.Check; {
	case math.IsNaN(p.Value):
		return v.Sentence("check.figure.none", nil)
	case e.Form == Failures:
		return v.Sentence("check.figure.failures", text.Args{"Value": text.Percent(p.Value)})
	case e.Baseline != "":
		args := text.Args{"Difference": p.Value - 1, "Tested": tested, "Level": e.Level, "Low": 0.0, "High": 0.0}
		if tested {
			args["Low"], args["High"] = p.Low-1, p.High-1
		}
		return v.Sentence("check.figure.difference", args)
	case e.Form == Width && p.Reason == "":
		return v.Sentence("check.figure.interval", text.Args{"Value": text.Percent(p.Value), "Level": e.Level})
	}
	write := func(x float64) string { return v.Figure(p.Metric, x) }
	if p.Limit != nil {
		write = text.Percent
	}
	args := text.Args{"Value": write(p.Value), "Level": v.Check.Level, "Low": "", "High": "", "Limit": "", "Of": ""}
	if tested {
		args["Low"], args["High"] = write(p.Low), write(p.High)
	}
	if p.Limit != nil {
		args["Limit"], args["Of"] = v.Figure(p.Metric, p.Limit.Value), p.Limit.Of
	}
	return v.Sentence("check.figure.threshold", args)
}
