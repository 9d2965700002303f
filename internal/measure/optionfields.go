package measure

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// OptionField is the declaration of one option, read from the tags of [Options].
type OptionField struct {
	Key   string   // key in a plan
	Flag  string   // long flag
	Short string   // one-letter flag, or empty
	Help  string   // one line
	Bare  string   // value of the flag when it is given without one, or empty
	Enum  []string // allowed values, or nil
	Tests []Test   // tests it applies to

	min, max int64
	index    int
}

// optionFields are read when somebody asks first, not before main.
var optionFields = sync.OnceValue(readOptionFields)

func readOptionFields() []OptionField {
	t := reflect.TypeFor[Options]()
	out := make([]OptionField, t.NumField())
	for i := range out {
		out[i] = readOptionField(string(t.Field(i).Tag))
		out[i].index = i
	}
	return out
}

// readOptionField goes through a tag once: StructTag.Get would for each of its values,
// and this is in the way of the first packet. No value has a quotation mark in it.
func readOptionField(tag string) (f OptionField) {
	for tag != "" {
		var key, value string
		key, tag, _ = strings.Cut(tag, `:"`)
		value, tag, _ = strings.Cut(tag, `"`)
		switch strings.TrimSpace(key) {
		case "yaml":
			f.Key = value
		case "flag":
			f.Flag = value
		case "short":
			f.Short = value
		case "help":
			f.Help = value
		case "bare":
			f.Bare = value
		case "enum":
			f.Enum = strings.Fields(value)
		case "tests":
			for name := range strings.FieldsSeq(value) {
				f.Tests = append(f.Tests, Test(name))
			}
		case "min":
			f.min, _ = strconv.ParseInt(value, 10, 64)
		case "max":
			f.max, _ = strconv.ParseInt(value, 10, 64)
		}
	}
	return f
}

// OptionFields lists the options that apply to a test, in the order of help.
func OptionFields(test Test) []OptionField {
	var out []OptionField
	for _, f := range optionFields() {
		if slices.Contains(f.Tests, test) {
			out = append(out, f)
		}
	}
	return out
}

// Pointer returns a pointer to the field inside o, for a flag or a decoder to fill.
func (f OptionField) Pointer(o *Options) any {
	return reflect.ValueOf(o).Elem().Field(f.index).Addr().Interface()
}

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
