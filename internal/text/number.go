package text

import (
	"fmt"
	"reflect"
)

// toFloat reads a number of any kind, or what a pointer to one points to.
func toFloat(v any) (float64, error) {
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
