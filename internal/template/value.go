package template

import (
	"fmt"
	"reflect"
)

// pointed is a value, or what a pointer points to; not valid for nil.
func pointed(v any) reflect.Value {
	r := reflect.ValueOf(v)
	for r.Kind() == reflect.Pointer || r.Kind() == reflect.Interface {
		r = r.Elem()
	}
	return r
}

// field is the field of a struct, also one that an embedded struct has, or the entry of a map.
func field(v any, name string, strict bool) (any, error) {
	r := pointed(v)
	switch {
	case r.Kind() == reflect.Struct:
		f, ok := r.Type().FieldByName(name)
		if !ok || !f.IsExported() {
			break
		}
		value, err := r.FieldByIndexErr(f.Index)
		if err != nil {
			return nil, err
		}
		return value.Interface(), nil
	case r.Kind() == reflect.Map && r.Type().Key().Kind() == reflect.String:
		value := r.MapIndex(reflect.ValueOf(name).Convert(r.Type().Key()))
		switch {
		case value.IsValid():
			return value.Interface(), nil
		case strict:
			return nil, fmt.Errorf("no argument %s", name)
		}
		return nil, nil
	}
	return nil, fmt.Errorf("%T has no field %s", v, name)
}

// truth reports whether {{if}} takes a value as true: not zero, empty or nil. A struct is
// always true.
func truth(v any) bool {
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Invalid:
		return false
	case reflect.Slice, reflect.Map, reflect.String, reflect.Array, reflect.Chan:
		return r.Len() > 0
	case reflect.Struct:
		return true
	}
	return !r.IsZero()
}

// printed is a value as fmt.Print writes it, and what a pointer points to.
func printed(v any) (string, error) {
	for {
		switch v.(type) {
		case error, fmt.Stringer:
			return fmt.Sprint(v), nil
		}
		switch r := reflect.ValueOf(v); r.Kind() {
		case reflect.Pointer:
			if !r.IsNil() {
				v = r.Elem().Interface()
				continue
			}
		case reflect.Func, reflect.Chan:
			return "", fmt.Errorf("%T cannot be written", v)
		}
		if v == nil {
			return "<no value>", nil
		}
		return fmt.Sprint(v), nil
	}
}
