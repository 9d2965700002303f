package campaign

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"soku/internal/measure"
)

func (o *Ordered[T]) decode(d *decoder, n ast.Node, path string) error {
	pairs, err := d.members(n, path)
	if err != nil {
		return err
	}
	*o = make(Ordered[T], len(pairs))
	for i, m := range pairs {
		e := &(*o)[i]
		e.Name = m.key
		d.places[join(path, m.key)] = placeOf(m.at)
		if err := d.value(m.value, reflect.ValueOf(&e.Value).Elem(), join(path, m.key)); err != nil {
			return err
		}
	}
	return nil
}

// decode reads {factor: level} and {factor: [level, level]}.
func (s *Selection) decode(d *decoder, n ast.Node, path string) error {
	pairs, err := d.members(n, path)
	if err != nil {
		return err
	}
	*s = nil
	for _, m := range pairs {
		p := join(path, m.key)
		d.places[p] = placeOf(m.at)
		values := []ast.Node{m.value}
		if list, ok := m.value.(*ast.SequenceNode); ok {
			values = list.Values
		}
		e := Entry[[]string]{Name: m.key}
		for _, v := range values {
			if err := d.scalar(v, p, func(text string) error { e.Value = append(e.Value, text); return nil }); err != nil {
				return err
			}
		}
		*s = append(*s, e)
	}
	return nil
}

// decode reads a list of levels, or {option: ..., levels: [...]}.
func (f *Factor) decode(d *decoder, n ast.Node, path string) error {
	if _, list := n.(*ast.SequenceNode); list {
		return d.value(n, reflect.ValueOf(&f.Levels).Elem(), path)
	}
	type plain Factor // without this method
	if err := d.structure(n, reflect.ValueOf((*plain)(f)).Elem(), path); err != nil {
		return err
	}
	// Levels stand at the same path in both forms, so that messages find them.
	for i := range f.Levels {
		d.places[path+"."+strconv.Itoa(i+1)] = d.places[path+".levels."+strconv.Itoa(i+1)]
	}
	return nil
}

// decode reads a name, or a name with what it sets.
func (l *Level) decode(d *decoder, n ast.Node, path string) error {
	if text, ok := scalarText(n); ok {
		l.Name = text
		return nil
	}
	type plain Level
	return d.structure(n, reflect.ValueOf((*plain)(l)).Elem(), path)
}

// decode reads a test and the options that apply to it, over the defaults.
func (t *TestPlan) decode(d *decoder, n ast.Node, path string) error {
	pairs, err := d.members(n, path)
	if err != nil {
		return err
	}
	kind := slices.IndexFunc(pairs, func(m member) bool { return m.key == "test" })
	if kind < 0 {
		return d.fail(n, "add test: with one of "+names(measure.Tests()), "%s: which test it is is missing", path)
	}
	if err := d.scalar(pairs[kind].value, path+".test", func(text string) (err error) {
		t.Test, err = measure.ParseTest(text)
		return err
	}); err != nil {
		return err
	}
	t.Options, t.set = measure.Defaults(t.Test), map[string]bool{}
	fields := measure.OptionFields(t.Test)
	for _, m := range pairs {
		if m.key == "test" {
			continue
		}
		i := slices.IndexFunc(fields, func(f measure.OptionField) bool { return f.Key == m.key })
		if i < 0 {
			return d.unknownOption(m, path, t.Test)
		}
		t.set[m.key] = true
		if err := d.element(m.value, reflect.ValueOf(fields[i].Pointer(&t.Options)).Elem(), join(path, m.key)); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) unknownOption(m member, path string, test measure.Test) error {
	if f, ok := optionField(m.key); ok {
		return d.fail(m.at, "it is for "+names(f.Tests()), "%s: %s does not apply to the %s test", path, m.key, test)
	}
	known := []string{"test"}
	for _, f := range measure.OptionFields(test) {
		known = append(known, f.Key)
	}
	return d.unknown(m, path, known)
}

// optionField is the declaration of an option, whatever test it is for.
func optionField(key string) (measure.OptionField, bool) {
	for _, t := range measure.Tests() {
		for _, f := range measure.OptionFields(t) {
			if f.Key == key {
				return f, true
			}
		}
	}
	return measure.OptionField{}, false
}

// setOption writes the text of an option's value into o.
func setOption(o *measure.Options, f measure.OptionField, text string) error {
	p := f.Pointer(o)
	if s, ok := p.(interface{ Set(string) error }); ok {
		return s.Set(text)
	}
	return setScalar(reflect.ValueOf(p).Elem(), text)
}

func names[T ~string](values []T) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return strings.Join(out, ", ")
}
