package messages

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// FormatRate writes bits per second for a person: "941.5 Mbit/s".
func FormatRate(bps float64) string { return scaled(bps, "bit/s") }

// FormatBytes writes a number of bytes for a person, decimal: "1.250 GB".
func FormatBytes(bytes float64) string {
	if bytes < 1000 {
		return fmt.Sprintf("%.0f B", bytes)
	}
	return scaled(bytes, "B")
}

// FormatSize writes bytes in the binary unit that shows them exactly where there is one:
// "128 KiB", "1448 B". An amount with fewer digits in decimal is a whole number of a binary unit
// by chance, such as 10 GB.
func FormatSize(bytes int64) string {
	for _, u := range []struct {
		name string
		n    int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n := bytes / u.n; n > 0 && bytes%u.n == 0 && digitsOf(n) <= digitsOf(bytes) {
			return fmt.Sprintf("%d %s", n, u.name)
		}
	}
	return FormatBytes(float64(bytes))
}

// digitsOf is how many digits a positive number has without zeros at its end.
func digitsOf(n int64) int { return len(strings.TrimRight(strconv.FormatInt(n, 10), "0")) }

// FormatLatency writes nanoseconds for a person with four digits: "48.21 µs".
func FormatLatency(ns float64) string {
	switch a := math.Abs(ns); {
	case a < 1e3:
		return fmt.Sprintf("%.0f ns", ns)
	case a < 1e6:
		return digits4(ns/1e3) + " µs"
	case a < 1e9:
		return digits4(ns/1e6) + " ms"
	default:
		return digits4(ns/1e9) + " s"
	}
}

func scaled(v float64, unit string) string {
	for _, m := range []struct {
		name string
		n    float64
	}{{"T", 1e12}, {"G", 1e9}, {"M", 1e6}, {"k", 1e3}} {
		if math.Abs(v) >= m.n*0.99995 {
			return digits4(v/m.n) + " " + m.name + unit
		}
	}
	return digits4(v) + " " + unit
}

// digits4 writes v with four significant digits, never in exponent form.
func digits4(v float64) string {
	switch a := math.Abs(v); {
	case a >= 999.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 99.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 9.9995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	default:
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
}
