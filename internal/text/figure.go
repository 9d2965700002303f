package text

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"soku/internal/measure/metric"
	"soku/internal/text/messages"
)

// mostFigures is how many values of a metric a sentence lists; of more it gives the range.
const mostFigures = 3

// Figure writes a value of a metric with its unit: 941.5 Mbit/s.
func (c *Catalogue) Figure(m *metric.Definition, value float64) string {
	switch m.Quantity {
	case metric.QuantityBitRate:
		return messages.FormatRate(value)
	case metric.QuantityTime:
		return messages.FormatLatency(value)
	case metric.QuantityRatio:
		return Percent(value)
	case metric.QuantityIndex:
		return Index(value)
	}
	return c.SentenceFor(m.Key, "figure", Args{"Value": Significant(4, value), "Unit": m.Unit})
}

func (c *Catalogue) figure(m *metric.Definition, value any) (string, error) {
	v, err := messages.Float(value)
	if err != nil {
		return "", err
	}
	return c.Figure(m, v), nil
}

func (c *Catalogue) figures(m *metric.Definition, values []float64) string {
	if len(values) > mostFigures {
		return c.Sentence("figures.range", Args{"Low": c.Figure(m, slices.Min(values)), "High": c.Figure(m, slices.Max(values))})
	}
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = c.Figure(m, v)
	}
	return c.language().Enumerate(out)
}

// Percent writes a ratio with three significant digits: 0.0123 is 1.23 %.
func Percent(ratio float64) string { return Significant(3, ratio*100) + " %" }

// Index writes a number between 0 and 1 with three decimals.
func Index(v float64) string { return fmt.Sprintf("%.3f", v) }

// Significant writes v with n significant digits, never in exponent form; digits
// before the point are all kept.
func Significant(n int, v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Absent
	}
	if v == 0 {
		return "0"
	}
	before := int(math.Floor(math.Log10(math.Abs(v)))) + 1
	after := max(n-max(before, 1), 0)
	if before < 1 { // 0.00123
		after = min(n-before, 9)
	}
	return strconv.FormatFloat(v, 'f', after, 64)
}

// Absent stands in a table for a figure that is not there.
const Absent = "–"
