package measure

import (
	"bytes"
	"encoding/json"
	"reflect"
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
	for _, t := range registered {
		if t.own == nil {
			continue
		}
		for name := range fieldTypes(t.own) {
			out[name] = t.own
		}
	}
	return out
})
