package option

import (
	"fmt"
	"reflect"
	"slices"

	"soku/internal/measure"
)

// ownOf returns the own options of o for the test, its defaults where o has none: an older
// program may have written it. Where all defaults are zero it is nil for zero, because
// that is what a document says of them.
func (s *Spec) ownOf(o measure.Options) any {
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
		if slices.ContainsFunc(optionFields, func(other Field) bool { return other.Key == f.Key || other.Flag == f.Flag }) {
			panic(fmt.Sprintf("test %s: its option %s is there already", s.Name, f.Key))
		}
		f.own = own
		s.Options = append(s.Options, f.Key)
	}
	optionFields = slices.Insert(optionFields, at, fields...)
}

// ownIndex is the place of Own in [measure.Options].
var ownIndex = func() int {
	f, _ := reflect.TypeFor[measure.Options]().FieldByName("Own")
	return f.Index[0]
}()
