package check

import (
	"regexp"
	"strconv"
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/yamlfile"
)

// Form is what an [Expression] is about.
type Form string

// The forms.
const (
	Threshold  Form = "threshold" // a figure: goodput >= 900 Mbit/s
	OfLimit    Form = "limit"     // a figure over its documented limit: goodput >= 90 % of limit
	Width      Form = "interval"  // half the width of a figure's interval: interval of goodput <= 3 %
	Failures   Form = "failures"  // trials that failed: failed <= 0 %
	NoWorse    Form = "no_worse"  // a difference: goodput no worse than BASELINE by 3 %
	BetterThan Form = "better"    // a difference: goodput better than BASELINE by 3 %
	SameAs     Form = "same"      // a difference: goodput same as BASELINE within 3 %
)

// DefaultLevel is the confidence level of an expression that names none.
const DefaultLevel = 0.95

// Expression is what has to hold, as docs/reference/check.md describes it.
type Expression struct {
	Text      string // as it was written, with single spaces
	Form      Form
	Metric    *metric.Definition // nil: that by which the test is ranked
	AtLeast   bool               // of a threshold: >= and not <=
	Value     float64            // the threshold: in the metric's unit, of other forms a ratio
	Practical bool               // the threshold is the smallest difference that matters by the plan
	Baseline  string             // of a difference
	Level     float64            // of the interval, above 0.5 and below 1
}

var (
	comparison = regexp.MustCompile(`^(.*?)([<>]=?|=+)(.*)$`)
	atLevel    = regexp.MustCompile(`^(.*?)\s+at\s+([0-9.]+)\s*%$`)
	percentage = regexp.MustCompile(`^([0-9.]+)\s*%$`)
	difference = regexp.MustCompile(`^(?:(\S+) )?(no worse than|better than|same as) ("[^"]+"|[^"\s]\S*)(?: (by|within) ([0-9.]+) ?%)?$`)
)

// Set reads the text of an expression.
func (e *Expression) Set(text string) error {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxText {
		return measure.Fail(measure.KindFile, "check.too_long", measure.Figures{"most": maxText})
	}
	out := Expression{Text: text, Level: DefaultLevel}
	rest := text
	if m := atLevel.FindStringSubmatch(text); m != nil {
		level, err := strconv.ParseFloat(m[2], 64)
		if err != nil || !(level > 50 && level < 100) {
			return measure.Fail(measure.KindFile, "check.level", measure.Figures{"text": yamlfile.Shorten(m[2])})
		}
		rest, out.Level = m[1], level/100
	}
	var err error
	if m := difference.FindStringSubmatch(rest); m != nil {
		err = out.difference(m)
	} else if m := comparison.FindStringSubmatch(rest); m != nil {
		err = out.comparison(strings.TrimSpace(m[1]), m[2], strings.TrimSpace(m[3]))
	} else {
		err = measure.Fail(measure.KindFile, "check.form", measure.Figures{"text": yamlfile.Shorten(text)})
	}
	if err == nil {
		*e = out
	}
	return err
}

// difference reads the parts of a difference from a baseline.
func (e *Expression) difference(parts []string) (err error) {
	if parts[1] != "" {
		if e.Metric, err = figure(parts[1]); err != nil {
			return err
		}
		if e.Metric.Better == metric.Neither {
			return measure.Fail(measure.KindFile, "check.no_better", measure.Figures{"figure": parts[1]})
		}
	}
	e.Form = map[string]Form{"no worse than": NoWorse, "better than": BetterThan, "same as": SameAs}[parts[2]]
	e.Baseline = strings.Trim(parts[3], `"`)
	if within := parts[4] == "within"; parts[4] != "" && within != (e.Form == SameAs) {
		return measure.Fail(measure.KindFile, "check.form", measure.Figures{"text": yamlfile.Shorten(e.Text)})
	}
	switch {
	case parts[5] != "":
		e.Value, err = share(parts[5])
	case e.Form != BetterThan:
		e.Practical = true
	}
	if err == nil && e.Value >= 1 && (e.Form == NoWorse || e.Form == SameAs) {
		return measure.Fail(measure.KindFile, "check.percent", measure.Figures{"text": parts[5]})
	}
	return err
}

// comparison reads what stands before and behind an operator.
func (e *Expression) comparison(left, operator, right string) (err error) {
	if operator != "<=" && operator != ">=" {
		return measure.Fail(measure.KindFile, "check.operator", measure.Figures{"operator": operator})
	}
	e.AtLeast = operator == ">="
	name, ofInterval := strings.CutPrefix(left, "interval of ")
	switch {
	case left == "failed":
		e.Form = Failures
	case ofInterval:
		e.Form = Width
	default:
		e.Form = Threshold
	}
	if e.Form != Threshold && e.AtLeast {
		return measure.Fail(measure.KindFile, "check.at_most", measure.Figures{"subject": left})
	}
	if e.Form != Failures {
		if e.Metric, err = figure(name); err != nil {
			return err
		}
	}
	of, ofLimit := strings.CutSuffix(right, " of limit")
	switch {
	case e.Form == Threshold && !ofLimit:
		e.Value, err = ParseValue(e.Metric, right)
		return err
	case e.Form == Threshold:
		e.Form, right = OfLimit, of
	}
	m := percentage.FindStringSubmatch(right)
	if m == nil {
		return measure.Fail(measure.KindFile, "check.percent", measure.Figures{"text": yamlfile.Shorten(right)})
	}
	e.Value, err = share(m[1])
	return err
}

func share(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0 && v <= 10_000) {
		return 0, measure.Fail(measure.KindFile, "check.percent", measure.Figures{"text": yamlfile.Shorten(text)})
	}
	return v / 100, nil
}
