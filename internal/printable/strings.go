package printable

import (
	"reflect"
	"sync"
)

// Strings makes every text of a decoded message a [Line] of at most most characters, including
// texts in structs, lists and maps. v points to the message. Bytes (json.RawMessage) and
// unexported fields stay as they are: they are never printed as text.
func Strings(v any, most int) { clean(reflect.ValueOf(v), most) }

func clean(v reflect.Value, most int) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			clean(v.Elem(), most)
		}
	case reflect.Interface:
		if !v.IsNil() && v.CanSet() {
			v.Set(cleaned(v.Elem(), most))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && mayHaveText(f.Type) {
				clean(v.Field(i), most)
			}
		}
	case reflect.Slice, reflect.Array:
		if mayHaveText(v.Type().Elem()) {
			for i := range v.Len() {
				clean(v.Index(i), most)
			}
		}
	case reflect.Map:
		cleanMap(v, most)
	case reflect.String:
		if s := Cut(Line(v.String()), most); s != v.String() && v.CanSet() {
			v.SetString(s)
		}
	}
}

func cleanMap(v reflect.Value, most int) {
	if !mayHaveText(v.Type().Key()) && !mayHaveText(v.Type().Elem()) {
		return
	}
	for _, key := range v.MapKeys() {
		name, value := cleaned(key, most), cleaned(v.MapIndex(key), most)
		if !name.Equal(key) {
			v.SetMapIndex(key, reflect.Value{})
		}
		v.SetMapIndex(name, value)
	}
}

// cleaned is a copy of a value that cannot be set.
func cleaned(v reflect.Value, most int) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	clean(out, most)
	return out
}

// mayHaveText reports whether values of a type may have texts in them. Those of most lists, such
// as samples, have none and are many.
func mayHaveText(t reflect.Type) bool {
	if known, ok := withText.Load(t); ok {
		return known.(bool)
	}
	found := searchText(t, map[reflect.Type]bool{})
	withText.Store(t, found)
	return found
}

var withText sync.Map // bool by reflect.Type

func searchText(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.String, reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return searchText(t.Elem(), seen)
	case reflect.Map:
		return searchText(t.Key(), seen) || searchText(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && searchText(f.Type, seen) {
				return true
			}
		}
	}
	return false
}
