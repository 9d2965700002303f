package report

import (
	"math"
	"strconv"

	"soku/internal/measure/metric"
	"soku/internal/text"
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
	percent    = scale{"%", 0.01}
)

// form is how figures of a quantity are written.
type form struct {
	// scales are the units of an axis, and of a column unless cell is set.
	scales []scale
	// cell writes a figure in a table; nil: in the unit of its column.
	cell func(float64) string
	// bare: the heading of a column does not name the unit.
	bare bool
}

func formOf(q metric.Quantity) form {
	switch q {
	case metric.QuantityBitRate:
		return form{scales: rateScales}
	case metric.QuantityTime:
		return form{scales: timeScales}
	case metric.QuantityBytes:
		return form{scales: []scale{{"bytes", 1}}, cell: countText}
	case metric.QuantityEventRate:
		return form{scales: []scale{{"1/s", 1}}, cell: countText, bare: true}
	case metric.QuantityRatio:
		return form{scales: []scale{percent}, cell: text.Percent, bare: true}
	case metric.QuantityIndex:
		return form{scales: []scale{one}, cell: text.Index}
	case metric.QuantityCost:
		return form{scales: []scale{{"s/GB", 1}}, cell: func(v float64) string { return text.Significant(3, v) }}
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

func countText(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }

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
func (s scale) text(v float64) string { return text.Significant(4, v/s.per) }

// ticksIn writes round numbers in a unit without needless digits.
func ticksIn(unit scale) func(float64) string {
	return func(v float64) string { return tickText(v, unit) }
}

// tickText writes a round number of a unit without needless digits.
func tickText(v float64, unit scale) string {
	return strconv.FormatFloat(math.Round(v/unit.per*1e6)/1e6, 'f', -1, 64)
}

// timeText writes a round number of nanoseconds with its own unit.
func timeText(ns float64) string {
	for _, s := range timeScales {
		if ns >= s.per*(1-1e-9) {
			return tickText(ns, s) + " " + s.unit
		}
	}
	return tickText(ns, timeScales[len(timeScales)-1]) + " ns"
}
