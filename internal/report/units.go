package report

import (
	"math"
	"strconv"
)

// scale is the unit that all figures of one column share, so that a reader
// compares digits and not units.
type scale struct {
	unit string
	per  float64 // base units in one
}

var (
	rateScales  = []scale{{"Tbit/s", 1e12}, {"Gbit/s", 1e9}, {"Mbit/s", 1e6}, {"kbit/s", 1e3}, {"bit/s", 1}}
	eventScales = []scale{{"1/s", 1}}
	byteScales  = []scale{{"bytes", 1}}
	timeScales  = []scale{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}, {"ns", 1}}
)

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
