package measure

import (
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
	Help  string   // one line
	Bare  string   // value of the flag when it is given without one, or empty
	Enum  []string // allowed values, or nil

	min, max int64
	index    int
}

// optionFields has one element a field of [Options], in its order.
var optionFields = readOptionFields(reflect.TypeFor[Options]())

func readOptionFields(options reflect.Type) []OptionField {
	out := make([]OptionField, 0, options.NumField())
	for i := range options.NumField() {
		tag := options.Field(i).Tag
		f := OptionField{
			Key: tag.Get("yaml"), Flag: tag.Get("flag"), Short: tag.Get("short"),
			Help: tag.Get("help"), Bare: tag.Get("bare"), Enum: strings.Fields(tag.Get("enum")), index: i,
		}
		f.min, _ = strconv.ParseInt(tag.Get("min"), 10, 64)
		f.max, _ = strconv.ParseInt(tag.Get("max"), 10, 64)
		out = append(out, f)
	}
	return out
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

// AppliesTo tells whether a test has the option.
func (f OptionField) AppliesTo(test Test) bool {
	s := specs[test]
	return s != nil && s.Has(f.Key)
}

// Tests are those that have the option.
func (f OptionField) Tests() []Test {
	return slices.DeleteFunc(Tests(), func(t Test) bool { return !f.AppliesTo(t) })
}

// Pointer returns a pointer to the field inside o, for a flag or a decoder to fill.
func (f OptionField) Pointer(o *Options) any {
	return f.value(o).Addr().Interface()
}

// value is the field inside o.
func (f OptionField) value(o *Options) reflect.Value { return reflect.ValueOf(o).Elem().Field(f.index) }

// Range is the allowed range as text, such as "1..1024", or empty.
func (f OptionField) Range() string {
	show := func(v int64) string {
		switch reflect.TypeFor[Options]().Field(f.index).Type {
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
			return Errorf(KindUsage, "%s %q is not one of its values", f.Key, text).WithHint("use %s", strings.Join(f.Enum, ", "))
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
		shown := field.Interface()
		return Errorf(KindUsage, "%s %v: out of range", f.Key, shown).WithHint("allowed: %s", f.rangeOrPositive())
	}
	return nil
}

func (f OptionField) rangeOrPositive() string {
	if r := f.Range(); r != "" {
		return r
	}
	return "0 and more"
}
