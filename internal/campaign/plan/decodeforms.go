package plan

import (
	"slices"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/yamlfile"
)

// DecodeYAML reads a list of levels, or {option: ..., levels: [...]}.
func (f *Factor) DecodeYAML(d *yamlfile.File, n yamlfile.Node, path string) error {
	if n.IsList() {
		return d.Decode(n, &f.Levels, path)
	}
	type plain Factor // without this method
	return d.Decode(n, (*plain)(f), path)
}

// DecodeYAML reads a name, or a name with what it sets.
func (l *Level) DecodeYAML(d *yamlfile.File, n yamlfile.Node, path string) error {
	if text, ok := n.Text(); ok {
		l.Name = text
		return nil
	}
	type plain Level
	return d.Decode(n, (*plain)(l), path)
}

// DecodeYAML reads a test and the options that apply to it, over the defaults.
func (t *Test) DecodeYAML(d *yamlfile.File, n yamlfile.Node, path string) error {
	pairs, err := d.Members(n, path)
	if err != nil {
		return err
	}
	kind := slices.IndexFunc(pairs, func(m yamlfile.Member) bool { return m.Key == "test" })
	if kind < 0 {
		return d.Locate(n.Place(), path, measure.Fail(measure.KindFile, "campaign.no_test", measure.Figures{"tests": measure.Tests()}))
	}
	if err := d.Scalar(pairs[kind].Value, path+".test", func(text string) (err error) {
		t.Test, err = measure.ParseTest(text)
		return err
	}); err != nil {
		return err
	}
	t.Options, t.set = option.Defaults(t.Test), map[string]bool{}
	fields := option.Fields(t.Test)
	for _, m := range pairs {
		if m.Key == "test" {
			continue
		}
		if known, err := d.DecodeMember(m, &t.TestTurns, path); known || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		i := slices.IndexFunc(fields, func(f option.Field) bool { return f.Key == m.Key })
		if i < 0 {
			return unknownOption(d, m, path, t.Test)
		}
		t.set[m.Key] = true
		at := yamlfile.Join(path, m.Key)
		d.Mark(at, m.Value.Place())
		if err := fields[i].Edit(&t.Options, func(p any) error { return d.Decode(m.Value, p, at) }); err != nil {
			return err
		}
		if err := fields[i].Check(&t.Options); err != nil {
			return d.LocateAt(at, err)
		}
	}
	return nil
}

func unknownOption(d *yamlfile.File, m yamlfile.Member, path string, test measure.Test) error {
	if f, ok := optionField(m.Key); ok {
		return d.Locate(m.Place, path, measure.Fail(measure.KindFile, "campaign.option_of_other_test", measure.Figures{
			"option": m.Key, "test": test, "tests": f.Tests(),
		}))
	}
	known := []string{"test", "repeats", "rounds"}
	for _, f := range option.Fields(test) {
		known = append(known, f.Key)
	}
	return d.UnknownKey(m, path, known)
}

// optionField is the declaration of an option, whatever test it is for.
func optionField(key string) (option.Field, bool) {
	f, ok := option.Of(key)
	return f, ok && len(f.Tests()) > 0
}

// HasOption reports whether a test has an option of that key.
func HasOption(test measure.Test, key string) bool {
	f, ok := option.Of(key)
	return ok && f.AppliesTo(test)
}

// setOption writes the text of an option's value into o.
func setOption(o *measure.Options, f option.Field, text string) error {
	return f.Edit(o, func(p any) error { return yamlfile.Set(p, text) })
}
