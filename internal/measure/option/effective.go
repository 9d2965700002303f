package option

import (
	"cmp"

	"soku/internal/measure"
)

// Effective checks o for a test and returns what will be used: fields that do
// not apply are an error when set, DSCP names become the TOS byte, and an
// amount (bytes, count) sets the duration to zero, which means no time limit.
// Effective options are their own effective options. Errors have kind usage
// and name the option.
//
// Options that the test does not have are refused first. The test completes its options
// ([Spec].Fill), then each option is held to its range, then the rules that tests share
// and the test's own [Spec].Check see whether they go together. No rule depends on
// another one of the same step.
func Effective(o measure.Options, test measure.Test) (measure.Options, error) {
	s := specs[test]
	if s == nil {
		_, err := measure.ParseTest(string(test))
		return o, err
	}
	if err := checkApply(&o, s); err != nil {
		return o, err
	}
	o.Own = s.ownOf(o)
	if s.Fill != nil {
		s.Fill(&o)
	}
	if s.Server {
		fillVia(&o)
	}
	if s.Has("series") {
		o.Series = cmp.Or(o.Series, measure.SeriesOff) // an older program left it out, and reads none
	}
	if o.Bytes > 0 || o.Count > 0 {
		o.Duration = 0 // an amount replaces the time
	}
	if err := checkFields(&o, s); err != nil {
		return o, err
	}
	for _, rule := range rules {
		if err := rule(&o, s); err != nil {
			return o, err
		}
	}
	if s.Check == nil {
		return o, nil
	}
	return o, s.Check(&o)
}

// checkApply refuses options that the test does not have, unless they have their zero values.
func checkApply(o *measure.Options, s *Spec) error {
	for _, f := range optionFields {
		if !s.Has(f.Key) && !f.value(o).IsZero() {
			return measure.Fail(measure.KindUsage, "option.not_of_test", measure.Figures{"option": f.Key, "test": s.Name, "tests": f.Tests()})
		}
	}
	return nil
}

// checkFields holds each option of the test to its own range.
func checkFields(o *measure.Options, s *Spec) error {
	for _, f := range optionFields {
		if !s.Has(f.Key) || f.Key == "duration" && (o.Bytes > 0 || o.Count > 0) { // zero, below its range
			continue
		}
		if err := f.check(f.value(o)); err != nil {
			return err
		}
	}
	return nil
}
