package messages

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
)

// times writes how many times as much with two digits, from a thousandth to a thousand.
func times(ratio float64) string {
	switch {
	case ratio < 0.001:
		return "<0.001"
	case ratio > 1000:
		return ">1000"
	case ratio >= 100:
		return strconv.FormatFloat(ratio, 'f', 0, 64)
	}
	return strconv.FormatFloat(ratio, 'g', 2, 64)
}

// points writes a ratio times 100 with digits for its size and a true minus sign;
// small ones keep two digits, so that a bound next to zero shows its side.
func points(ratio float64) string {
	v := ratio * 100
	decimals := 1
	switch a := math.Abs(v); {
	case a >= 99.95:
		decimals = 0
	case a < 0.995:
		decimals = 2
	}
	text := strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)
	if v < 0 && text != "0.00" {
		return "−" + text
	}
	return text
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
