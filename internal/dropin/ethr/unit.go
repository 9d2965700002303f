package ethr

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// parseUnit reads a number with a unit as Ethr does: powers of 1000, in any spelling of
// the unit.
func parseUnit(text string) (uint64, bool) {
	text = strings.ToUpper(strings.TrimSpace(text))
	i := strings.IndexFunc(text, func(r rune) bool { return r >= 'A' && r <= 'Z' })
	if i < 0 {
		i = len(text)
	}
	factor := 1.0
	switch text[i:] {
	case "", "B":
	case "K", "KB", "KIB":
		factor = 1e3
	case "M", "MB", "MIB":
		factor = 1e6
	case "G", "GB", "GIB":
		factor = 1e9
	case "T", "TB", "TIB":
		factor = 1e12
	default:
		return 0, false
	}
	n, err := strconv.ParseFloat(text[:i], 64)
	if n *= factor; err != nil || !(n >= 0) || n > 1e18 {
		return 0, false
	}
	return uint64(n), true
}

// unit writes a whole number with a letter for its power of 1000, and drops decimals
// that are all zero.
func unit(n float64, decimals int) string {
	letter := ""
	n = math.Round(n)
	for _, p := range []struct {
		letter string
		value  float64
	}{{"T", 1e12}, {"G", 1e9}, {"M", 1e6}, {"K", 1e3}} {
		if n >= p.value {
			letter, n = p.letter, n/p.value
			break
		}
	}
	text := strconv.FormatFloat(n, 'f', decimals, 64)
	return strings.TrimSuffix(text, "."+strings.Repeat("0", decimals)) + letter
}

// duration writes a time in a suitable unit, with three decimals.
func duration(d time.Duration) string {
	value, name := float64(d), "ns"
	switch {
	case d < 0 || d >= time.Minute:
		return d.String()
	case d >= time.Second:
		value, name = value/1e9, "s"
	case d >= time.Millisecond:
		value, name = value/1e6, "ms"
	case d >= time.Microsecond:
		value, name = value/1e3, "us"
	}
	return strconv.FormatFloat(value, 'f', 3, 64) + name
}
