package measure

// Effective checks o for a test and returns what will be used: fields that do
// not apply are an error when set, DSCP names become the TOS byte, and an
// amount (bytes, count) sets the duration to zero, which means no time limit.
// Effective options are their own effective options. Errors are of kind usage
// and name the option.
//
// The test completes its options first ([Spec].Fill), then each option is held to its
// range, then the rules that tests share and the test's own [Spec].Check see whether
// they go together. No rule depends on another one of the same step.
func (o Options) Effective(test Test) (Options, error) {
	s := specs[test]
	if s == nil {
		_, err := ParseTest(string(test))
		return o, err
	}
	if o.Own == nil {
		o.Own = s.Own // absent in what an older program wrote
	}
	if s.Fill != nil {
		s.Fill(&o)
	}
	if s.Server {
		o.fillVia()
	}
	if o.Bytes > 0 || o.Count > 0 {
		o.Duration = 0 // an amount replaces the time
	}
	if err := o.checkFields(s); err != nil {
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

// checkFields holds each option to its own range, and those that the test lacks to
// their zero values.
func (o *Options) checkFields(s *Spec) error {
	for _, f := range optionFields {
		field := f.value(o)
		switch {
		case !s.Has(f.Key):
			if !field.IsZero() {
				return Errorf(KindUsage, "%s does not apply to the %s test", f.Key, s.Name).WithHint("it is for: %s", list(f.Tests()))
			}
		case f.Key == "duration" && (o.Bytes > 0 || o.Count > 0): // zero, below its range
		default:
			if err := f.check(field); err != nil {
				return err
			}
		}
	}
	return nil
}
