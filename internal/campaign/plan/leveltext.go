package plan

import (
	"reflect"
	"strconv"
	"time"

	"soku/internal/measure"
)

// levelText is the value of an option as the name of a level: the shortest text of one
// number and one unit that reads back as the same value.
func levelText(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case measure.Rate:
		return shortest(int64(x), decimalUnits)
	case measure.Size:
		return shortest(int64(x), append(decimalUnits[:len(decimalUnits):len(decimalUnits)], binaryUnits...))
	case measure.Duration:
		return inUnit(int64(x), durationUnits)
	case float64:
		// 12 digits leave out the rounding error of 3 times 0.1.
		short, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64)
		return strconv.FormatFloat(short, 'f', -1, 64)
	}
	return strconv.FormatInt(v.Int(), 10)
}

// unit64 is a word that multiplies the number before it.
type unit64 struct {
	name string
	size int64
}

var (
	decimalUnits  = []unit64{{"G", 1e9}, {"M", 1e6}, {"k", 1e3}}
	binaryUnits   = []unit64{{"Gi", 1 << 30}, {"Mi", 1 << 20}, {"Ki", 1 << 10}}
	durationUnits = []unit64{{"s", int64(time.Second)}, {"ms", int64(time.Millisecond)}, {"us", int64(time.Microsecond)}, {"ns", 1}}
)

// inUnit writes v in the first unit of which it is a whole number.
func inUnit(v int64, units []unit64) string {
	for _, u := range units {
		if v%u.size == 0 {
			return strconv.FormatInt(v/u.size, 10) + u.name
		}
	}
	return strconv.FormatInt(v, 10)
}

// shortest writes v in the unit that gives the shortest text.
func shortest(v int64, units []unit64) string {
	best := strconv.FormatInt(v, 10)
	for _, u := range units {
		if text := inUnit(v, []unit64{u}); len(text) < len(best) {
			best = text
		}
	}
	return best
}
