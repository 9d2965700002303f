package check

import (
	"encoding/json"
	"math"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/text"
)

// Schema is the identity of the JSON form of an [Outcome]. Members may be added under the
// same number.
const Schema = "soku.check/1"

// Verdict is what a rule comes to.
type Verdict string

// The verdicts.
const (
	Holds       Verdict = "holds"
	DoesNotHold Verdict = "does_not_hold"
	NotShown    Verdict = "not_shown"
)

// Reason is why a verdict is [NotShown], or empty for other verdicts.
type Reason string

// The reasons.
const (
	Crosses    Reason = "crosses"     // the interval has the threshold inside
	FewRounds  Reason = "few_rounds"  // fewer than two: no interval; of a comparison, fewer than six
	FewSamples Reason = "few_samples" // too few round trips for an interval of the percentile
	NoInterval Reason = "no_interval" // published ranges, or rounds with a figure of 0: no ratio
	NoValue    Reason = "no_value"    // no trial has the figure
	Chance     Reason = "chance"      // beyond the threshold alone, but not after correction for the rule's other patterns
)

// Judgement is a rule applied to one pattern.
type Judgement struct {
	Label   string
	Test    measure.Test
	Pattern string
	Levels  []measure.Level
	Metric  *metric.Definition // nil for the share of failed trials
	// Value is what was measured, Low and High its interval: a figure in the metric's unit, or
	// of other forms than [Threshold] a ratio. NaN where there is none.
	Value, Low, High float64
	Rounds           int // with a value
	Trials, Failed   int
	Single           bool           // judged by the figure of one trial, without an interval
	Apart            bool           // from a baseline that another session measured
	Limit            *measure.Limit // of the figure, for [OfLimit]
	Verdict          Verdict
	Reason           Reason
}

// RuleOutcome is what a rule comes to: the worst of its patterns.
type RuleOutcome struct {
	Rule
	Line     int // in the file
	Verdict  Verdict
	Patterns []Judgement
}

// Outcome has the verdicts of rules.
type Outcome struct {
	Subject string // what was judged, in the caller's words
	Rules   []RuleOutcome
}

// worstFirst are the verdicts in the order in which people see them.
var worstFirst = []Verdict{DoesNotHold, NotShown, Holds}

// worse is the worse of two verdicts.
func worse(a, b Verdict) Verdict {
	for _, v := range worstFirst {
		if a == v || b == v {
			return v
		}
	}
	return Holds
}

// Verdict is the worst of the rules.
func (o *Outcome) Verdict() Verdict {
	out := Holds
	for _, r := range o.Rules {
		out = worse(out, r.Verdict)
	}
	return out
}

// count is how many rules come to a verdict.
func (o *Outcome) count(v Verdict) (n int) {
	for _, r := range o.Rules {
		if r.Verdict == v {
			n++
		}
	}
	return n
}

// Err is nil if all rules hold; else a failure of kind does_not_hold or not_shown.
func (o *Outcome) Err() error {
	figures := measure.Figures{"rules": len(o.Rules), "failing": o.count(DoesNotHold), "not_shown": o.count(NotShown)}
	switch o.Verdict() {
	case DoesNotHold:
		return measure.Fail(measure.KindNotHeld, "check.does_not_hold", figures)
	case NotShown:
		return measure.Fail(measure.KindNotShown, "check.not_shown", figures)
	}
	return nil
}

type outcomeJSON struct {
	Schema  string     `json:"schema"`
	Subject string     `json:"subject"`
	Verdict Verdict    `json:"verdict"`
	Rules   []ruleJSON `json:"rules"`
}

type ruleJSON struct {
	Name    string  `json:"name"`
	Check   string  `json:"check"`
	Line    int     `json:"line"`
	Form    Form    `json:"form"`
	Verdict Verdict `json:"verdict"`
	// Tested patterns rest on intervals. With several, those that do not hold are found by Holm's
	// procedure, which Correction then says.
	Tested     int             `json:"tested,omitempty"`
	Correction string          `json:"correction,omitempty"`
	Patterns   []judgementJSON `json:"patterns"`
}

type judgementJSON struct {
	Label   string          `json:"label"`
	Test    measure.Test    `json:"test"`
	Pattern string          `json:"pattern"`
	Levels  []measure.Level `json:"levels,omitempty"`
	Metric  string          `json:"metric,omitempty"`
	Verdict Verdict         `json:"verdict"`
	Reason  Reason          `json:"reason,omitempty"`
	Value   *float64        `json:"value,omitempty"`
	Low     *float64        `json:"low,omitempty"`
	High    *float64        `json:"high,omitempty"`
	Limit   *measure.Limit  `json:"limit,omitempty"`
	Rounds  int             `json:"rounds"`
	Trials  int             `json:"trials"`
	Failed  int             `json:"failed,omitempty"`
	Single  bool            `json:"single,omitempty"`
	Apart   bool            `json:"apart,omitempty"`
	Text    string          `json:"text"`
}

// MarshalJSON writes the outcome with a sentence for each pattern, in English.
func (o *Outcome) MarshalJSON() ([]byte, error) {
	out := outcomeJSON{Schema: Schema, Subject: o.Subject, Verdict: o.Verdict(), Rules: []ruleJSON{}}
	for _, r := range o.Rules {
		j := ruleJSON{Name: r.name(), Check: r.Check.Text, Line: r.Line, Form: r.Check.Form, Verdict: r.Verdict, Tested: testedIn(r.Patterns), Patterns: []judgementJSON{}}
		if j.Tested > 1 {
			j.Correction = "holm"
		}
		v := ruleView{&r, text.ForPrograms()}
		for i := range r.Patterns {
			p := &r.Patterns[i]
			x := judgementJSON{
				Label: p.Label, Test: p.Test, Pattern: p.Pattern, Levels: p.Levels, Verdict: p.Verdict, Reason: p.Reason,
				Value: finite(p.Value), Low: finite(p.Low), High: finite(p.High), Limit: p.Limit, Rounds: p.Rounds, Trials: p.Trials, Failed: p.Failed, Single: p.Single, Apart: p.Apart,
				Text: v.measured(p),
			}
			if p.Metric != nil {
				x.Metric = p.Metric.Key
			}
			j.Patterns = append(j.Patterns, x)
		}
		out.Rules = append(out.Rules, j)
	}
	return json.Marshal(out)
}

// finite is v for JSON, nil where v is not a number.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// name is what the rule is called.
func (r *Rule) name() string {
	if r.Name != "" {
		return r.Name
	}
	return r.Check.Text
}
