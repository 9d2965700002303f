package option

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"soku/internal/measure"
)

// Field is the declaration of one option, read from the tags of [measure.Options].
type Field struct {
	Key   string   // key in a plan
	Flag  string   // long flag
	Short string   // one-letter flag, or empty
	Help  string   // one line, about all tests that have it
	Bare  string   // value of the flag when it is given without one, or empty
	Enum  []string // allowed values, or nil

	min, max int64
	index    int
	tag      reflect.StructTag
	own      reflect.Type // of Options.Own, if only one test has the option
}

// optionFields has one element an option: those of [measure.Options] in its order, and at the place
// of [measure.Options].Own those of tests alone, as they are registered.
var optionFields = readOptionFields(reflect.TypeFor[measure.Options]())

func readOptionFields(options reflect.Type) []Field {
	out := make([]Field, 0, options.NumField())
	for i := range options.NumField() {
		tag := options.Field(i).Tag
		if tag.Get("flag") == "" {
			continue // Own, and what is no option
		}
		f := Field{
			Key: tag.Get("yaml"), Flag: tag.Get("flag"), Short: tag.Get("short"),
			Help: tag.Get("help"), Bare: tag.Get("bare"), Enum: strings.Fields(tag.Get("enum")), index: i, tag: tag,
		}
		f.min, _ = strconv.ParseInt(tag.Get("min"), 10, 64)
		f.max, _ = strconv.ParseInt(tag.Get("max"), 10, 64)
		out = append(out, f)
	}
	return out
}

// HelpFor is one line about one of the tests that have the option.
func (f Field) HelpFor(test measure.Test) string {
	return cmp.Or(f.tag.Get("help."+string(test)), f.Help)
}

// Fields lists the options that apply to a test, in the order of help.
func Fields(test measure.Test) []Field {
	var out []Field
	for _, f := range optionFields {
		if f.AppliesTo(test) {
			out = append(out, f)
		}
	}
	return out
}

// Keys are the keys of all options, in the order of help.
func Keys() []string {
	out := make([]string, len(optionFields))
	for i, f := range optionFields {
		out[i] = f.Key
	}
	return out
}

// Of is the declaration of the option with that key, whatever tests have it.
func Of(key string) (Field, bool) {
	i := slices.IndexFunc(optionFields, func(f Field) bool { return f.Key == key })
	if i < 0 {
		return Field{}, false
	}
	return optionFields[i], true
}

// AppliesTo reports whether a test has the option.
func (f Field) AppliesTo(test measure.Test) bool {
	s := specs[test]
	return s != nil && s.Has(f.Key)
}

// Tests are those that have the option.
func (f Field) Tests() []measure.Test {
	return slices.DeleteFunc(measure.Tests(), func(t measure.Test) bool { return !f.AppliesTo(t) })
}

// Type is the type of the option's value.
func (f Field) Type() reflect.Type {
	if f.own != nil {
		return f.own.Field(f.index).Type
	}
	return reflect.TypeFor[measure.Options]().Field(f.index).Type
}

// Value is the option's value in o.
func (f Field) Value(o *measure.Options) any { return f.value(o).Interface() }

// Check holds a value that a person wrote to the range of the option. [Effective]
// takes zero, which a document of an older program has for an absent value, for the default
// of some options.
func (f Field) Check(o *measure.Options) error { return f.check(f.value(o)) }

// Edit calls edit with a pointer to the option's value, of type *[Field.Type], for a
// flag or a decoder to fill. o is unchanged where it fails.
func (f Field) Edit(o *measure.Options, edit func(p any) error) error {
	p := reflect.New(f.Type())
	p.Elem().Set(f.value(o))
	if err := edit(p.Interface()); err != nil {
		return err
	}
	if f.own == nil {
		reflect.ValueOf(o).Elem().Field(f.index).Set(p.Elem())
		return nil
	}
	own := reflect.New(f.own).Elem()
	if reflect.TypeOf(o.Own) == f.own {
		own.Set(reflect.ValueOf(o.Own))
	}
	own.Field(f.index).Set(p.Elem())
	o.Own = own.Interface()
	return nil
}

// value is the field inside o, zero for an own option of a test whose options o has not.
func (f Field) value(o *measure.Options) reflect.Value {
	switch {
	case f.own == nil:
		return reflect.ValueOf(o).Elem().Field(f.index)
	case reflect.TypeOf(o.Own) == f.own:
		return reflect.ValueOf(o.Own).Field(f.index)
	}
	return reflect.Zero(f.Type())
}

// Range is the allowed range as text, such as "1..1024", or empty.
func (f Field) Range() string {
	show := func(v int64) string {
		switch f.Type() {
		case reflect.TypeFor[measure.Duration]():
			return measure.Duration(v).String()
		case reflect.TypeFor[measure.Size]():
			return measure.Size(v).String()
		}
		return strconv.FormatInt(v, 10)
	}
	if f.max == 0 {
		return ""
	}
	return show(f.min) + ".." + show(f.max)
}

func (f Field) check(field reflect.Value) error {
	if len(f.Enum) > 0 {
		text := field.String()
		if field.CanInt() {
			text = strconv.FormatInt(field.Int(), 10)
		}
		if !slices.Contains(f.Enum, text) {
			return measure.Fail(measure.KindUsage, "option.not_a_value", measure.Figures{"option": f.Key, "value": text, "values": f.Enum})
		}
		return nil
	}
	var value float64
	switch {
	case field.CanInt():
		value = float64(field.Int())
	case field.CanFloat():
		value = field.Float()
	default:
		return nil
	}
	if !(value >= float64(f.min)) || f.max != 0 && value > float64(f.max) {
		shown := fmt.Sprint(field.Interface()) // with its unit
		if allowed := f.Range(); allowed != "" {
			return measure.Fail(measure.KindUsage, "option.out_of_range", measure.Figures{"option": f.Key, "value": shown, "range": allowed})
		}
		return measure.Fail(measure.KindUsage, "option.below_zero", measure.Figures{"option": f.Key, "value": shown})
	}
	return nil
}
