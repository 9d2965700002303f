package plan

import (
	"regexp"
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/yamlfile"
)

// Threshold is what the figure of a trial has to be, such as "loss <= 1 %", or empty.
type Threshold string

var thresholdForm = regexp.MustCompile(`^(\S+) ?([<>]=) ?(.+)$`)

// Set reads a threshold.
func (t *Threshold) Set(text string) error {
	out := Threshold(strings.Join(strings.Fields(text), " "))
	if _, _, _, err := out.parts(); err != nil {
		return err
	}
	*t = out
	return nil
}

// parts are the figure, whether it has to be at least the value, and the value.
func (t Threshold) parts() (figure *metric.Definition, atLeast bool, value float64, err error) {
	m := thresholdForm.FindStringSubmatch(string(t))
	if m == nil {
		return nil, false, 0, measure.Fail(measure.KindFile, "campaign.threshold", measure.Figures{"text": yamlfile.Shorten(string(t))})
	}
	if figure = metric.Find(m[1]); figure == nil {
		unknown := measure.Fail(measure.KindFile, "campaign.threshold_figure", measure.Figures{"figure": yamlfile.Shorten(m[1])})
		return nil, false, 0, suggest(unknown, m[1], limitNames(), "campaign.figures_are")
	}
	value, err = figure.ParseValue(m[3])
	return figure, m[2] == ">=", value, err
}

// Holds reports whether a trial succeeded and has a figure that the threshold allows.
func (t Threshold) Holds(r *measure.Result) bool {
	figure, atLeast, limit, err := t.parts()
	if err != nil || r.Error != nil {
		return false
	}
	v, found := figure.Value(r)
	return found && (v == limit || atLeast == (v > limit))
}
