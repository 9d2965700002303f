package report

import (
	"strconv"
	"strings"

	"soku/internal/measure/metric"
	"soku/internal/text"
)

// testView is a test with the language that its texts are made in.
type testView struct {
	*Test
	*text.Catalogue
}

// noun is what the ranking compares.
func (t testView) noun() string {
	key := t.Basis.Metric.Key
	if !t.Has("noun." + key) { // of a later version
		return key
	}
	return t.SentenceFor(t.test(), "noun."+key, nil)
}

// estimate is the heading of the estimates of a ranking, which has no room to say of
// what each is the median.
func (t testView) estimate() string {
	if key := "estimate." + t.Basis.Metric.Key; t.Has(key) {
		return t.SentenceFor(t.test(), "estimate."+t.Basis.Metric.Key, nil)
	}
	return t.noun()
}

// basis says what the ranking rests on.
func (t testView) basis() string {
	args := text.Args{"Noun": t.noun()}
	if t.Basis.Metric.Better == metric.Higher {
		return t.SentenceFor(t.Basis.Metric.Key, "basis.higher", args)
	}
	return t.SentenceFor(t.Basis.Metric.Key, "basis.lower", args)
}

// value writes a value of the metric that ranks, with its unit.
func (t testView) value(v float64) string { return t.Figure(t.Basis.Metric, v) }

// test is the name of the test, by which a message may have a variant.
func (t testView) test() string { return string(t.Test.Test) }

// unit is the name of a unit: a symbol, or a word of the language.
func (t testView) unit(s scale) string {
	if t.Has("unit." + s.unit) {
		return t.Sentence("unit."+s.unit, nil)
	}
	return s.unit
}

// between is a range of figures.
func (t testView) between(low, high string) string {
	return t.Sentence("cell.range", text.Args{"Low": low, "High": high})
}

// label is the plan's label, with the capture if only that distinguishes two tests.
func (t testView) label() string {
	if !t.apart {
		return t.Label
	}
	return t.Sentence("report.label", text.Args{"Label": t.Label, "Capture": string(t.Capture)})
}

// heading names the test and says what was measured.
func (t testView) heading() string {
	args := text.Args{"Label": t.label(), "Test": t.Test.Test, "Description": t.description()}
	if t.Label == string(t.Test.Test) {
		args["Test"] = ""
	}
	return t.Sentence("report.heading", args)
}

// description puts the options that a reader asks for first into words: of those that are
// the same in every trial.
func (t testView) description() string {
	option := func(key string) string {
		for _, o := range t.Same {
			if o.Key == key {
				return o.Values[0]
			}
		}
		return ""
	}
	number := func(key string) int {
		n, _ := strconv.Atoi(option(key)) // 0: not set
		return n
	}
	return t.SentenceFor(t.test(), "describe", text.Args{
		"Test": t.Test.Test, "Protocol": strings.ToUpper(option("protocol")), "Streams": number("streams"), "Direction": option("direction"),
		"Rate": option("rate"), "Requests": option("request_rate"), "Port": option("to_port"), "Size": option("size"),
		"Probe": strings.ToUpper(option("probe")), "Duration": option("duration"), "Bytes": option("bytes"), "Count": number("count"),
		"Capture": string(t.Capture),
	})
}
