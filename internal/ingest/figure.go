package ingest

import (
	"math"
	"strconv"
	"strings"

	"soku/internal/measure"
)

// most is larger than any figure of a network: bits per second, bytes, nanoseconds.
const most = 1e18

// plausible reports whether a figure may stand in a result.
func plausible(v float64) bool { return v >= 0 && v <= most }

// number reads a decimal number that is plausible.
func number(text string) (float64, bool) {
	text = strings.TrimSpace(text)
	if text == "" || strings.ContainsAny(text, "xXpP_nN") {
		return 0, false
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && plausible(v)
}

// count reads a whole number that is plausible.
func count(text string) (int64, bool) {
	v, ok := number(text)
	return int64(v), ok && v == math.Trunc(v)
}

// scaledBy reads a number with an SI multiplier right behind it, such as 17.8G.
func scaledBy(text string) (float64, bool) {
	text = strings.TrimSpace(text)
	factor := 1.0
	if text != "" {
		if i := strings.IndexByte("KMGT", text[len(text)-1]&^0x20); i >= 0 {
			factor, text = math.Pow10(3*(i+1)), text[:len(text)-1]
		}
	}
	v, ok := number(text)
	return v * factor, ok && plausible(v*factor)
}

// span reads a time with its unit, such as 69.119us or 1m2.5s, in ns.
func span(text string) (float64, bool) {
	d, err := measure.ParseDuration(strings.TrimSpace(text))
	return float64(d), err == nil && plausible(float64(d))
}

// nsOf turns milliseconds into a pointer to ns.
func nsOf(ms float64) *float64 { return new(ms * 1e6) }
