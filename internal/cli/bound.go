package cli

import (
	"cmp"
	"strings"

	"github.com/spf13/pflag"

	"soku/internal/check"
	"soku/internal/measure"
	"soku/internal/measure/metric"
	"soku/internal/text"
)

// bound is the value of --fail-below or --fail-above: the figure with which a test is still good
// enough. A single test is judged by its figure alone, as by soku check.
type bound struct {
	metric *metric.Definition
	value  float64 // in the metric's unit
	text   string  // as it was given, or empty
}

// addBound adds the flag for the first figure of the test's headline of which more or less is
// better.
func addBound(flags *pflag.FlagSet, b *bound, test measure.Test) {
	for _, alternatives := range metric.Of(test).Headline {
		if b.metric = alternatives[0]; b.metric.Better != metric.Neither {
			flags.Var(b, b.flag(), "exit with status 11 if "+b.metric.Name()+" is "+b.side()+" this, such as "+b.example())
			return
		}
	}
}

func (b *bound) side() string {
	if b.metric.Better == metric.Higher {
		return "below"
	}
	return "above"
}

func (b *bound) flag() string { return "fail-" + b.side() }

func (b *bound) example() string {
	return cmp.Or(map[metric.Quantity]string{metric.QuantityBitRate: "900M", metric.QuantityTime: "5ms"}[b.metric.Quantity], "1400")
}

// Set implements pflag.Value.
func (b *bound) Set(text string) error {
	value, err := check.ParseValue(b.metric, strings.TrimSpace(text))
	if err != nil {
		e := measure.AsError(err, measure.KindUsage)
		e.Kind = measure.KindUsage
		return e
	}
	b.value, b.text = value, text
	return nil
}

// String implements pflag.Value.
func (b *bound) String() string { return b.text }

// Type implements pflag.Value.
func (b *bound) Type() string { return "figure" }

// failure is the error of a result whose figure is not good enough, or nil.
func (b *bound) failure(c *text.Catalogue, r *measure.Result) error {
	if b.text == "" {
		return nil
	}
	value, known := b.metric.Value(r)
	figures := measure.Figures{"figure": b.metric.Name(), "flag": b.flag(), "threshold": c.Figure(b.metric, b.value)}
	switch {
	case !known:
		return measure.Fail(measure.KindNotShown, "cli.bound.unknown", figures)
	case value == b.value, (value > b.value) == (b.metric.Better == metric.Higher):
		return nil
	}
	figures["measured"] = c.Figure(b.metric, value)
	return measure.Fail(measure.KindNotHeld, "cli.bound."+b.side(), figures)
}
