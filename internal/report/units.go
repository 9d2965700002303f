package report

import (
	"fmt"
	"math"
	"strconv"

	"soku/internal/measure"
)

// scale is the unit that all figures of one column share, so that a reader
// compares digits and not units.
type scale struct {
	unit string
	per  float64 // base units in one
}

var (
	rateScales = []scale{{"Tbit/s", 1e12}, {"Gbit/s", 1e9}, {"Mbit/s", 1e6}, {"kbit/s", 1e3}, {"bit/s", 1}}
	timeScales = []scale{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}, {"ns", 1}}
	one        = scale{per: 1}
)

// form is how figures of a quantity are written.
type form struct {
	// scales are the units of an axis, and of a column unless cell is set.
	scales []scale
	// cell writes a figure in a table; nil: in the unit of its column.
	cell func(float64) string
	// bare: the heading of a column does not name the unit.
	bare bool
	// whole writes a figure with its unit; nil: four digits and the metric's unit.
	whole func(float64) string
}

func formOf(q measure.Quantity) form {
	switch q {
	case measure.QuantityBitRate:
		return form{scales: rateScales, whole: measure.FormatRate}
	case measure.QuantityTime:
		return form{scales: timeScales, whole: measure.FormatLatency}
	case measure.QuantityBytes:
		return form{scales: []scale{{"bytes", 1}}, cell: countText}
	case measure.QuantityEventRate:
		return form{scales: []scale{{"1/s", 1}}, cell: countText, bare: true}
	case measure.QuantityRatio:
		return form{scales: []scale{{"%", 0.01}}, cell: ratioText, bare: true, whole: ratioText}
	case measure.QuantityIndex:
		return form{scales: []scale{one}, cell: indexText, whole: indexText}
	case measure.QuantityCost:
		return form{scales: []scale{{"s/GB", 1}}, cell: func(v float64) string { return digits(v, 3) }}
	}
	return form{scales: []scale{one}, cell: countText}
}

// cellText writes a figure in a column of that unit.
func (f form) cellText(v float64, unit scale) string {
	if f.cell != nil {
		return f.cell(v)
	}
	return unit.text(v)
}

// heading is the unit that the heading of a column names.
func (f form) heading(unit scale) string {
	if f.bare {
		return ""
	}
	return unit.unit
}

// valueText writes a value of a metric with its unit.
func valueText(m *measure.Metric, v float64) string {
	if f := formOf(m.Quantity); f.whole != nil {
		return f.whole(v)
	}
	return digits(v, 4) + " " + m.Unit
}

func countText(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }

func indexText(v float64) string { return fmt.Sprintf("%.3f", v) }

func ratioText(ratio float64) string {
	if ratio == 0 {
		return "0 %"
	}
	return digits(ratio*100, 3) + " %"
}

// scaleFor picks the largest unit in which the smallest positive figure is at
// least 1, or the smallest unit.
func scaleFor(scales []scale, figures ...float64) scale {
	least := math.Inf(1)
	for _, f := range figures {
		if f > 0 {
			least = min(least, f)
		}
	}
	if math.IsInf(least, 1) {
		return scales[len(scales)-1]
	}
	for _, s := range scales {
		if least >= s.per*0.9995 {
			return s
		}
	}
	return scales[len(scales)-1]
}

// text writes a figure in the unit, without it.
func (s scale) text(v float64) string { return digits(v/s.per, 4) }

// digits writes v with n significant digits, never in exponent form; digits
// before the point are all kept.
func digits(v float64, n int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
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
