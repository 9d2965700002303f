package measure

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// OptionField is the declaration of one option, read from the tags of [Options].
type OptionField struct {
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

// optionFields has one element an option: those of [Options] in its order, and at the place
// of [Options].Own those of tests alone, as they are registered.
var optionFields = readOptionFields(reflect.TypeFor[Options]())

func readOptionFields(options reflect.Type) []OptionField {
	out := make([]OptionField, 0, options.NumField())
	for i := range options.NumField() {
		tag := options.Field(i).Tag
		if tag.Get("flag") == "" {
			continue // Own, and what is no option
		}
		f := OptionField{
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
func (f OptionField) HelpFor(test Test) string {
	return cmp.Or(f.tag.Get("help."+string(test)), f.Help)
}

// OptionFields lists the options that apply to a test, in the order of help.
func OptionFields(test Test) []OptionField {
	var out []OptionField
	for _, f := range optionFields {
		if f.AppliesTo(test) {
			out = append(out, f)
		}
	}
	return out
}

// OptionKeys are the keys of all options, in the order of help.
func OptionKeys() []string {
	out := make([]string, len(optionFields))
	for i, f := range optionFields {
		out[i] = f.Key
	}
	return out
}

// OptionOf is the declaration of the option with that key, whatever tests have it.
func OptionOf(key string) (OptionField, bool) {
	i := slices.IndexFunc(optionFields, func(f OptionField) bool { return f.Key == key })
	if i < 0 {
		return OptionField{}, false
	}
	return optionFields[i], true
}

// AppliesTo reports whether a test has the option.
func (f OptionField) AppliesTo(test Test) bool {
	s := specs[test]
	return s != nil && s.Has(f.Key)
}

// Tests are those that have the option.
func (f OptionField) Tests() []Test {
	return slices.DeleteFunc(Tests(), func(t Test) bool { return !f.AppliesTo(t) })
}

// Type is the type of the option's value.
func (f OptionField) Type() reflect.Type {
	if f.own != nil {
		return f.own.Field(f.index).Type
	}
	return reflect.TypeFor[Options]().Field(f.index).Type
}

// Value is the option's value in o.
func (f OptionField) Value(o *Options) any { return f.value(o).Interface() }

// Check holds a value that a person wrote to the range of the option. [Options.Effective]
// takes zero, which a document of an older program has for an absent value, for the default
// of some options.
func (f OptionField) Check(o *Options) error { return f.check(f.value(o)) }

// Edit calls edit with a pointer to the option's value, of type *[OptionField.Type], for a
// flag or a decoder to fill. o is unchanged where it fails.
func (f OptionField) Edit(o *Options, edit func(p any) error) error {
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
func (f OptionField) value(o *Options) reflect.Value {
	switch {
	case f.own == nil:
		return reflect.ValueOf(o).Elem().Field(f.index)
	case reflect.TypeOf(o.Own) == f.own:
		return reflect.ValueOf(o.Own).Field(f.index)
	}
	return reflect.Zero(f.Type())
}

// Range is the allowed range as text, such as "1..1024", or empty.
func (f OptionField) Range() string {
	show := func(v int64) string {
		switch f.Type() {
		case reflect.TypeFor[Duration]():
			return Duration(v).String()
		case reflect.TypeFor[Size]():
			return Size(v).String()
		}
		return strconv.FormatInt(v, 10)
	}
	if f.max == 0 {
		return ""
	}
	return show(f.min) + ".." + show(f.max)
}

func (f OptionField) check(field reflect.Value) error {
	if len(f.Enum) > 0 {
		text := field.String()
		if field.CanInt() {
			text = strconv.FormatInt(field.Int(), 10)
		}
		if !slices.Contains(f.Enum, text) {
			return Fail(KindUsage, "option.not_a_value", Figures{"option": f.Key, "value": text, "values": f.Enum})
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
			return Fail(KindUsage, "option.out_of_range", Figures{"option": f.Key, "value": shown, "range": allowed})
		}
		return Fail(KindUsage, "option.below_zero", Figures{"option": f.Key, "value": shown})
	}
	return nil
}
