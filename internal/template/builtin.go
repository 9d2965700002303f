package template

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
)

// builtins are the functions of every template.
var builtins = Functions{
	"not": func(v any) bool { return !truth(v) },
	"eq": func(a any, others ...any) (bool, error) {
		for _, b := range others {
			if c, err := compare(a, b); err != nil || c == 0 {
				return c == 0, err
			}
		}
		return false, nil
	},
	"ne":     comparison(func(c int) bool { return c != 0 }),
	"lt":     comparison(func(c int) bool { return c < 0 }),
	"le":     comparison(func(c int) bool { return c <= 0 }),
	"gt":     comparison(func(c int) bool { return c > 0 }),
	"ge":     comparison(func(c int) bool { return c >= 0 }),
	"print":  fmt.Sprint,
	"printf": fmt.Sprintf,
	"len": func(v any) (int, error) {
		switch r := pointed(v); r.Kind() {
		case reflect.Slice, reflect.Map, reflect.String:
			return r.Len(), nil
		}
		return 0, fmt.Errorf("%T has no length", v)
	},
	"index": func(v any, i int) (any, error) {
		r := pointed(v)
		if r.Kind() != reflect.Slice {
			return nil, fmt.Errorf("%T is not a slice", v)
		}
		if i < 0 || i >= r.Len() {
			return nil, fmt.Errorf("no element %d of %d", i, r.Len())
		}
		return r.Index(i).Interface(), nil
	},
}

func comparison(holds func(int) bool) any {
	return func(a, b any) (bool, error) {
		c, err := compare(a, b)
		return err == nil && holds(c), err
	}
}

// compare is negative where a is less than b, 0 where they are equal. It takes two texts,
// two numbers, or two truth values, of which false is less.
func compare(a, b any) (int, error) {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	switch {
	case x.Kind() == reflect.String && y.Kind() == reflect.String:
		return strings.Compare(x.String(), y.String()), nil
	case x.Kind() == reflect.Bool && y.Kind() == reflect.Bool:
		return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)), nil
	case x.CanInt() && y.CanInt():
		return cmp.Compare(x.Int(), y.Int()), nil
	case x.CanUint() && y.CanUint():
		return cmp.Compare(x.Uint(), y.Uint()), nil
	case x.CanInt() && y.CanUint():
		return compareSigned(x.Int(), y.Uint()), nil
	case x.CanUint() && y.CanInt():
		return -compareSigned(y.Int(), x.Uint()), nil
	}
	f, ok := float(x)
	g, also := float(y)
	if !ok || !also {
		return 0, fmt.Errorf("%T and %T cannot be compared", a, b)
	}
	switch {
	case f < g:
		return -1, nil
	case f == g:
		return 0, nil
	}
	return 1, nil // also where one is not a number
}

// compareSigned compares exactly what a float64 may be too coarse for.
func compareSigned(a int64, b uint64) int {
	if a < 0 {
		return -1
	}
	return cmp.Compare(uint64(a), b)
}

func float(r reflect.Value) (float64, bool) {
	switch {
	case r.IsValid() && r.CanInt():
		return float64(r.Int()), true
	case r.IsValid() && r.CanUint():
		return float64(r.Uint()), true
	case r.IsValid() && r.CanFloat():
		return r.Float(), true
	}
	return 0, false
}
