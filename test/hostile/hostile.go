// Package hostile makes messages and documents of an attacker: every text in them has the
// control characters that a terminal obeys and a line that looks like one of the program's own.
// It also finds what of that comes out.
package hostile

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// Text has each kind of control character that JSON can carry: a title that is set (ECMA-48
// OSC), a colour by C1 in UTF-8, a back space, DEL, an override of the writing direction, and
// line ends before what must not become a line of its own.
const Text = "a\x1b]0;x\x07b\u009b31mc\bd\x7fe\u202ef\u2066g\r\n" + Forged + "\nh\u0085" + Forged + "\u2028" + Forged

// Bytes is the same with a byte that is C1 alone, which is not UTF-8.
const Bytes = Text + "\x9b31m"

// Forged must not be at the beginning of a line.
const Forged = "soku: forged"

// Fill sets what v points to, down to a fixed depth: every text to the given one, numbers to
// 1, truth values to true, and each list and map to one element. It keeps values that are
// already set, members of interface type and the types in keep.
func Fill(v any, text string, keep ...reflect.Type) {
	f := filler{text: text, keep: map[reflect.Type]bool{}}
	for _, t := range keep {
		f.keep[t] = true
	}
	f.fill(reflect.ValueOf(v).Elem(), 12)
}

type filler struct {
	text string
	keep map[reflect.Type]bool
}

func (f filler) fill(v reflect.Value, depth int) {
	if depth == 0 || f.keep[v.Type()] || v.Type() == reflect.TypeFor[time.Time]() || v.Type() == reflect.TypeFor[json.RawMessage]() {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(f.text)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if v.IsZero() {
			v.SetInt(1)
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if v.IsZero() {
			v.SetUint(1)
		}
	case reflect.Float32, reflect.Float64:
		if v.IsZero() {
			v.SetFloat(1)
		}
	case reflect.Interface:
		if v.NumMethod() == 0 {
			v.Set(reflect.ValueOf(f.text))
		}
	case reflect.Pointer:
		if f.keep[v.Type().Elem()] {
			return
		}
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		f.fill(v.Elem(), depth-1)
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() && field.Type.Kind() != reflect.Interface {
				f.fill(v.Field(i), depth-1)
			}
		}
	case reflect.Slice:
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			f.fill(v.Index(i), depth-1)
		}
	case reflect.Array:
		for i := range v.Len() {
			f.fill(v.Index(i), depth-1)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		f.fill(key, depth-1)
		f.fill(value, depth-1)
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		v.SetMapIndex(key, value)
	}
}

// Clean checks that an output has no control character but line feeds and tabs, and no forged
// line.
func Clean(t testing.TB, what, output string) {
	t.Helper()
	if i := strings.IndexFunc(output, control); i >= 0 {
		t.Errorf("%s: %q, in: %q", what, first(output[i:]), around(output, i))
	}
	if !utf8.ValidString(output) {
		t.Errorf("%s is not UTF-8: %q", what, output)
	}
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, Forged) {
			t.Errorf("%s has a forged line: %q", what, line)
		}
	}
}

// CleanMessage checks every text of a decoded message, by its path.
func CleanMessage(t testing.TB, what string, v any) {
	t.Helper()
	found := 0
	walk(reflect.ValueOf(v), what, func(path, text string) {
		found++
		if i := strings.IndexFunc(text, func(r rune) bool { return control(r) || r == '\n' || r == '\t' }); i >= 0 || !utf8.ValidString(text) {
			t.Errorf("%s: %q", path, text)
		}
	})
	if found == 0 {
		t.Errorf("%s has no text", what)
	}
}

func walk(v reflect.Value, path string, visit func(path, text string)) {
	switch v.Kind() {
	case reflect.String:
		visit(path, v.String())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			walk(v.Elem(), path, visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				walk(v.Field(i), path+"."+f.Name, visit)
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			walk(v.Index(i), fmt.Sprintf("%s[%d]", path, i), visit)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			walk(key, path+" key", visit)
			walk(v.MapIndex(key), fmt.Sprintf("%s[%q]", path, key), visit)
		}
	}
}

// control is what must not come out, without what ends lines and columns.
func control(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x2028 || r == 0x2029
}

func first(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}

func around(s string, i int) string { return s[max(0, i-60):min(len(s), i+60)] }
