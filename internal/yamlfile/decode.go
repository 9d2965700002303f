package yamlfile

import (
	"fmt"
	"math"
	"reflect"
	"strconv"

	"soku/internal/measure"
)

// Decoder is a type that reads itself, because it has more than one form.
type Decoder interface {
	DecodeYAML(f *File, n Node, path string) error
}

// Decode reads the node at a path into what v points to, and takes note of where
// the values below it stand.
//
// A struct gets the members that its yaml tags name; a member that no tag names is
// an error, one without a value sets nothing, and the tags min and max bound a
// number. A [Decoder] reads itself; a type with the method Set(string) error, a
// string, a bool and a number get the text as it is written.
func (f *File) Decode(n Node, v any, path string) error {
	return f.value(n, reflect.ValueOf(v).Elem(), path)
}

// part reads a part of a list or mapping.
func (f *File) part(n Node, v reflect.Value, path string) error {
	f.places[path] = n.place
	return f.value(n, v, path)
}

func (f *File) value(n Node, v reflect.Value, path string) error {
	if d, ok := v.Addr().Interface().(Decoder); ok {
		return d.DecodeYAML(f, n, path)
	}
	if _, ok := v.Addr().Interface().(setter); !ok {
		switch v.Kind() {
		case reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
			return f.value(n, v.Elem(), path)
		case reflect.Struct:
			return f.structure(n, v, path)
		case reflect.Slice:
			return f.list(n, v, path)
		}
	}
	return f.Scalar(n, path, func(text string) error { return Set(v.Addr().Interface(), text) })
}

func (f *File) list(n Node, v reflect.Value, path string) error {
	items, err := f.Items(n, path)
	if err != nil {
		return err
	}
	out := reflect.MakeSlice(v.Type(), len(items), len(items))
	for i, item := range items {
		if err := f.part(item, out.Index(i), Join(path, strconv.Itoa(i+1))); err != nil {
			return err
		}
	}
	v.Set(out)
	return nil
}

// structure reads a mapping into the fields that its keys name.
func (f *File) structure(n Node, v reflect.Value, path string) error {
	members, err := f.Members(n, path)
	if err != nil {
		return err
	}
	fields, names := structFields(v.Type())
	for _, m := range members {
		index, ok := fields[m.Key]
		if !ok {
			if err := f.formerOrUnknown(m, path, names); err != nil {
				return err
			}
			continue
		}
		if err := f.field(m, v, index, path); err != nil {
			return err
		}
	}
	return nil
}

// formerOrUnknown handles a member that no tag names.
func (f *File) formerOrUnknown(m Member, path string, names []string) error {
	if f.Former != nil {
		if known, err := f.Former(f, m, path); known {
			return err
		}
	}
	return f.UnknownKey(m, path, names)
}

// DecodeMember reads a member of the mapping at a path into the field of the struct that
// v points to, as [File.Decode] does. known is whether a yaml tag names it.
func (f *File) DecodeMember(m Member, v any, path string) (known bool, err error) {
	e := reflect.ValueOf(v).Elem()
	fields, _ := structFields(e.Type())
	index, known := fields[m.Key]
	if known {
		err = f.field(m, e, index, path)
	}
	return known, err
}

// field reads a member into the field of a struct.
func (f *File) field(m Member, v reflect.Value, index int, path string) error {
	if m.Value.IsNull() {
		return nil
	}
	at, field := Join(path, m.Key), v.Field(index)
	if err := f.part(m.Value, field, at); err != nil {
		return err
	}
	return f.inRange(m.Value, field, v.Type().Field(index).Tag, at)
}

func (f *File) inRange(n Node, v reflect.Value, tag reflect.StructTag, path string) error {
	low, lerr := strconv.ParseFloat(tag.Get("min"), 64)
	high, herr := strconv.ParseFloat(tag.Get("max"), 64)
	var x float64
	switch {
	case v.CanInt():
		x = float64(v.Int())
	case v.CanFloat():
		x = v.Float()
	default:
		return nil
	}
	if lerr == nil && x < low || herr == nil && x > high {
		text, _ := n.Text()
		return f.failAt(n.place, path, "yaml.out_of_range", measure.Figures{
			"text": Shorten(text), "range": tag.Get("min") + ".." + tag.Get("max"),
		})
	}
	return nil
}

// structFields are the keys of a struct type, by key and in order.
func structFields(t reflect.Type) (byKey map[string]int, names []string) {
	byKey = map[string]int{}
	for i := range t.NumField() {
		if key := t.Field(i).Tag.Get("yaml"); key != "" && key != "-" {
			byKey[key] = i
			names = append(names, key)
		}
	}
	return byKey, names
}

// setter is a type that reads its own text.
type setter interface{ Set(string) error }

// Set writes the text of a value into what v points to: a type with the method
// Set(string) error, a string, a bool or a number.
func Set(v any, text string) error {
	if s, ok := v.(setter); ok {
		return s.Set(text)
	}
	e := reflect.ValueOf(v).Elem()
	switch e.Kind() {
	case reflect.String:
		e.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return measure.Fail(measure.KindFile, "yaml.expected_bool", measure.Figures{"text": Shorten(text)})
		}
		e.SetBool(b)
	case reflect.Int, reflect.Int64:
		i, err := strconv.ParseInt(text, 10, e.Type().Bits())
		if err != nil {
			return measure.Fail(measure.KindFile, "yaml.expected_whole", measure.Figures{"text": Shorten(text)})
		}
		e.SetInt(i)
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return measure.Fail(measure.KindFile, "yaml.expected_number", measure.Figures{"text": Shorten(text)})
		}
		e.SetFloat(x)
	default:
		return fmt.Errorf("type %s has no text form", e.Type())
	}
	return nil
}
