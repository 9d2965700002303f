package measure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"
)

// Options of one test alone, or of tests of one kind, are in Options.Own: a value, not a
// pointer, of the struct that the test's Spec names, so that copies of Options share
// nothing. Its fields have the same tags as those of Options, and in documents they stand
// beside the shared ones. The package of the struct has a function OptionsOf that returns
// it; packages below the engines do not see it.

// OwnOptions returns the options that one test alone has, T being their struct: its zero
// value where o has none of them.
func OwnOptions[T any](o Options) T {
	own, _ := o.Own.(T)
	return own
}

// EditOwn changes the options that one test alone has, T being their struct.
func EditOwn[T any](o *Options, edit func(own *T)) {
	own := OwnOptions[T](*o)
	edit(&own)
	o.Own = own
}

// ownOf returns the own options of o for the test, its defaults where o has none: an older
// program may have written it. Where all defaults are zero it is nil for zero, because
// that is what a document says of them.
func (s *Spec) ownOf(o Options) any {
	defaults := s.Defaults.Own
	if reflect.TypeOf(o.Own) != reflect.TypeOf(s.Own) || defaults == nil && o.Own != nil && reflect.ValueOf(o.Own).IsZero() {
		return defaults
	}
	return o.Own
}

// registerOwn adds the fields of a test's own options, which tests of one kind may have in
// common. A key that is taken is a defect.
func registerOwn(s *Spec) {
	if s.Own == nil {
		return
	}
	if !reflect.ValueOf(s.Own).IsZero() {
		s.Defaults.Own = s.Own
	}
	own := reflect.TypeOf(s.Own)
	fields, at := readOptionFields(own), 0 // where they stand: before what follows Options.Own
	for i, other := range optionFields {
		if other.own == own { // of another test of this kind
			for _, f := range fields {
				s.Options = append(s.Options, f.Key)
			}
			return
		}
		if other.own != nil || other.index < ownIndex {
			at = i + 1
		}
	}
	for i := range fields {
		f := &fields[i]
		if slices.ContainsFunc(optionFields, func(other OptionField) bool { return other.Key == f.Key || other.Flag == f.Flag }) {
			panic(fmt.Sprintf("test %s: its option %s is there already", s.Name, f.Key))
		}
		f.own = own
		s.Options = append(s.Options, f.Key)
	}
	optionFields = slices.Insert(optionFields, at, fields...)
}

// ownIndex is the place of Own in [Options].
var ownIndex = func() int {
	f, _ := reflect.TypeFor[Options]().FieldByName("Own")
	return f.Index[0]
}()

// MarshalJSON writes the shared options, those of the test alone, and members that this
// version does not know as one object.
func (o Options) MarshalJSON() ([]byte, error) {
	type shared Options
	b, err := json.Marshal(shared(o))
	if err == nil && o.Own != nil {
		var own []byte
		own, err = json.Marshal(o.Own)
		b = joinObjects(b, own)
	}
	if o.unknown != "" {
		b = joinObjects(b, []byte(o.unknown))
	}
	return b, err
}

// joinObjects makes one JSON object of two.
func joinObjects(a, b []byte) []byte {
	switch {
	case len(b) <= len("{}"):
		return a
	case len(a) <= len("{}"):
		return b
	}
	return bytes.Join([][]byte{a[:len(a)-1], b[1:]}, []byte{','})
}

// UnmarshalJSON reads the shared options, and those of the one test whose own options
// are among the members. Unknown members are kept.
func (o *Options) UnmarshalJSON(b []byte) error {
	type shared Options
	if err := json.Unmarshal(b, (*shared)(o)); err != nil {
		return err
	}
	var members map[string]json.RawMessage // nil for null
	if err := json.Unmarshal(b, &members); err != nil {
		return err
	}
	var read reflect.Type // whose own options have been read
	for name := range members {
		owner, known := optionMembers()[name]
		if !known {
			continue
		}
		delete(members, name)
		if owner == nil || owner == read {
			continue
		}
		if read != nil {
			return Fail(KindUsage, "option.several_tests", Figures{"option": name})
		}
		read = owner
		own := reflect.New(owner)
		if err := json.Unmarshal(b, own.Interface()); err != nil {
			return err
		}
		o.Own = own.Elem().Interface()
	}
	if o.unknown = ""; len(members) > 0 {
		unknown, err := json.Marshal(members)
		if err != nil {
			return err
		}
		o.unknown = string(unknown)
	}
	return nil
}

// optionMembers are the members of options in a document that are known: nil for those
// that tests share, else the type of the test's own options.
var optionMembers = sync.OnceValue(func() map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for name := range fieldTypes(reflect.TypeFor[Options]()) {
		out[name] = nil
	}
	for _, s := range specs {
		if s.Own == nil {
			continue
		}
		for name := range fieldTypes(reflect.TypeOf(s.Own)) {
			out[name] = reflect.TypeOf(s.Own)
		}
	}
	return out
})
