package floor

import (
	"errors"
	"slices"

	"soku/internal/measure"
	"soku/internal/measure/option"
)

// kind is the list of the floor to which a mode's figure belongs.
type kind int

const (
	roundTrips kind = iota
	goodput
	packets
)

// mode is one set of options to measure with.
type mode struct {
	kind kind
	name string // in the table and the document
	test measure.Test
	set  []setting // over the defaults of the test
}

// setting is an option by its key in a plan, and its value as text.
type setting struct{ key, value string }

// modes is everything that is measured, in the order of the table. A mode with an option
// or a value that this build does not have is skipped.
var modes = []mode{
	{roundTrips, "tcp", measure.TestLatency, []setting{{"protocol", "tcp"}}},
	{roundTrips, "udp", measure.TestLatency, []setting{{"protocol", "udp"}}},
	{roundTrips, "tcp, spinning", measure.TestLatency, []setting{{"protocol", "tcp"}, {"spin", "on"}}},
	{roundTrips, "udp, spinning", measure.TestLatency, []setting{{"protocol", "udp"}, {"spin", "on"}}},
	{goodput, "path capacity", measure.TestTCP, nil},
	{goodput, "read by the receiver", measure.TestTCP, []setting{{"rx", "read"}}},
	{packets, "udp", measure.TestUDP, []setting{{"size", "64"}, {"rate", "0"}}},
}

// options returns the options of m, or false if this build does not have one of them.
func (m mode) options() (measure.Options, bool) {
	o := option.Defaults(m.test)
	fields := option.Fields(m.test)
	for _, s := range m.set {
		i := slices.IndexFunc(fields, func(f option.Field) bool { return f.Key == s.key })
		if i < 0 || !put(fields[i], &o, s.value) {
			return o, false
		}
	}
	return o, true
}

// put sets an option from its text.
func put(f option.Field, o *measure.Options, text string) bool {
	if len(f.Enum) > 0 && !slices.Contains(f.Enum, text) {
		return false
	}
	return f.Edit(o, func(p any) error {
		switch p := p.(type) {
		case *string:
			*p = text
			return nil
		case interface{ Set(string) error }:
			return p.Set(text)
		}
		return errNoTextForm
	}) == nil
}

var errNoTextForm = errors.New("an option without a text form")

// available returns the modes that this build has.
func available() []mode {
	return slices.DeleteFunc(slices.Clone(modes), func(m mode) bool { _, ok := m.options(); return !ok })
}
