package messages

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// times writes how many times as much with two digits, from a thousandth to a thousand.
func times(ratio float64) string {
	switch {
	case ratio < 0.001:
		return "<0.001"
	case ratio > 1000:
		return ">1000"
	}
	return significant(2, ratio)
}

// significant writes a number with up to n significant digits, without an exponent, and
// never with fewer digits than it has before the point.
func significant(digits int, v float64) string {
	if math.Abs(v) >= math.Pow10(digits) {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64) // its own text: no error
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// inTimes reports whether an interval of how much more something is reaches ten times as much.
func inTimes(interval []float64) bool {
	return len(interval) == 2 && interval[1] >= 9 && interval[0] < 9
}

// known are the numbers of figures that a sentence may have, without those that it does not have.
func known(figures []any) (out []float64, err error) {
	for _, f := range figures {
		if f == nil {
			continue
		}
		v, err := Float(f)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// pointsDecimals is how many decimals ratios times 100 have in one sentence: digits for the size
// of the largest, and two where one is too few to tell another from 0, so that a bound next to
// zero shows its side.
func pointsDecimals(ratios ...float64) int {
	decimals, largest := 1, 0.0
	for _, r := range ratios {
		largest = max(largest, math.Abs(r*100))
	}
	switch {
	case largest >= 99.95:
		decimals = 0
	case largest < 0.995:
		decimals = 2
	}
	for _, r := range ratios {
		if a := math.Abs(r * 100); decimals == 1 && a < 0.05 && a >= 0.005 {
			decimals = 2
		}
	}
	return decimals
}

// pointsWith writes a ratio times 100 with a true minus sign.
func pointsWith(decimals int, ratio float64) string {
	text := strconv.FormatFloat(math.Abs(ratio*100), 'f', decimals, 64)
	if ratio < 0 && text != strconv.FormatFloat(0, 'f', decimals, 64) {
		return "−" + text
	}
	return text
}

// mostDecimals is how many decimals a ratio has at most.
const mostDecimals = 3

// factors writes a ratio with the ends of its interval: 4.4, 4.0, 4.9, with more decimals where
// the ends would else be alike, and without any from 10 on.
func factors(values []float64) []string {
	least := 1
	for _, v := range values {
		if v >= 10 {
			least = 0
		}
	}
	last := len(values) - 1
	write := func(decimals int) []string {
		out := make([]string, len(values))
		for i, v := range values {
			out[i] = strconv.FormatFloat(v, 'f', decimals, 64)
		}
		return out
	}
	for decimals := least; decimals <= mostDecimals; decimals++ {
		if out := write(decimals); last < 1 || out[1] != out[last] {
			return out
		}
	}
	return write(least)
}

// multiples writes ratios, such as one with the ends of its interval, with three digits each, from a
// thousandth to a thousand. They have more where the last two would else be alike, or one of them would
// look like 1.
func multiples(values []float64) (out []string) {
	last := len(values) - 1
	wide := last > 1 && multiple(values[last-1], mostDecimals) != multiple(values[last], mostDecimals)
	for more := 0; ; more++ {
		out = nil
		unclear := false
		for i, v := range values {
			out = append(out, multiple(v, more))
			unclear = unclear || i > 0 && v != 1 && strings.Trim(out[i], "0") == "1."
		}
		unclear = unclear || wide && out[last-1] == out[last]
		if !unclear || more == mostDecimals {
			return out
		}
	}
}

func multiple(v float64, more int) string {
	switch {
	case v < 0.001:
		return "<0.001"
	case v > 1000:
		return ">1000"
	}
	return strconv.FormatFloat(v, 'f', max(2-int(math.Floor(math.Log10(v))), 0)+more, 64)
}

// Float reads a number of any kind, or what a pointer to one points to.
func Float(v any) (float64, error) {
	r := reflect.ValueOf(v)
	for r.Kind() == reflect.Pointer && !r.IsNil() {
		r = r.Elem()
	}
	switch {
	case r.IsValid() && r.CanInt():
		return float64(r.Int()), nil
	case r.IsValid() && r.CanUint():
		return float64(r.Uint()), nil
	case r.IsValid() && r.CanFloat():
		return r.Float(), nil
	}
	return 0, fmt.Errorf("%v (%T) is not a number", v, v)
}

// Number is a figure that a message writes without a function: digits alone, never in
// exponent form.
type Number float64

// String is the shortest text that reads back as the same number.
func (n Number) String() string { return strconv.FormatFloat(float64(n), 'f', -1, 64) }
