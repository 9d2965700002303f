package option

import (
	"reflect"
	"slices"

	"soku/internal/measure"
	"soku/internal/measure/metric"
)

// Spec declares a test: all that plans, flags, protocols and documents need to know of
// it before a packet moves. The package of its engine registers it; what moves its
// packets and what a person sees of it is its descriptor in package tests.
type Spec struct {
	Name  measure.Test
	Place int // orders tests in help, documents and reports, ascending

	// Options are the keys of the shared options that apply to the test: groups such as
	// [NetworkKeys], and single ones.
	Options []string
	// Own are the defaults of the options that the test alone has: a value of a struct
	// whose fields have the tags of [measure.Options], or nil if there are none. Register adds their
	// keys to Options and the value to Defaults.
	Own any
	// Defaults are the options when nothing is asked.
	Defaults measure.Options
	// Fill sets, before anything is checked, what is absent because an older program
	// wrote the options, and what follows from other options; nil does nothing.
	Fill func(*measure.Options)
	// Check refuses what does not go together and may complete options that depend on
	// others. Each option is in its own range by then, and the shared options have been
	// checked. Errors have kind usage and name the option. nil allows all.
	Check func(*measure.Options) error
	// TX and RX are the paths into and out of the kernel that the options tx and rx may
	// name, or nil if the test has no such options.
	TX, RX []string

	// Server reports whether the test has a part for a soku server.
	Server bool
	// External reports whether these options name another service at the far end, so that
	// the test needs no soku server; nil is never.
	External func(measure.Options) bool
	// Hostless reports whether these options need no far end at all, so that it may be left
	// out; nil is never.
	Hostless func(measure.Options) bool
	// Via refuses options of the test that the server which the option via names does not
	// offer. Errors have kind usage and name the option. If Via is nil, all are allowed.
	Via func(measure.Options) error
	// Connections is how many data connections a session of these effective options
	// has; nil is none.
	Connections func(measure.Options) int
	// Datagrams reports whether the data connections are UDP; nil is never.
	Datagrams func(measure.Options) bool

	// Messages: the test exchanges messages: its TCP connections never wait to
	// fill a segment (TCP_NODELAY).
	Messages bool
	// Resumes: the test goes on when a data connection was cut and is opened again.
	Resumes bool
	// Held: a server may set a rate for a test that requested none.
	Held bool

	// Length is how long a trial takes without its set-up, and false if it ends after an
	// amount whose rate is not known. nil is [DurationLength].
	Length func(measure.Options) (measure.Duration, bool)
	// Payload is how many bytes a trial moves, and false if no rate limits it. nil is
	// none.
	Payload func(measure.Options) (bytes int64, known bool)

	// Metrics are the figures of its results.
	Metrics metric.Set
}

var specs = map[measure.Test]*Spec{}

// Register adds a test and returns its name. It is for variables of packages, which are
// set before main; a name or a place that is taken is a defect, and it panics.
func Register(s Spec) measure.Test {
	measure.RegisterTest(s.Name, s.Place, reflect.TypeOf(s.Own))
	metric.Declare(s.Name, s.Metrics)
	s.fillFunctions()
	registerOwn(&s)
	specs[s.Name] = &s
	return s.Name
}

// fillFunctions sets the functions that a test may leave out.
func (s *Spec) fillFunctions() {
	if s.Length == nil {
		s.Length = DurationLength
	}
	if s.Payload == nil {
		s.Payload = func(measure.Options) (int64, bool) { return 0, true }
	}
}

// Has reports whether the test has an option of that key.
func (s *Spec) Has(key string) bool { return slices.Contains(s.Options, key) }

// SpecOf is the declaration of a test, or nil for a name that no test has.
func SpecOf(t measure.Test) *Spec { return specs[t] }

// Defaults are the options of a test when nothing is asked. Flags and plans are
// read over them, so that an explicit zero differs from an absent value.
func Defaults(test measure.Test) measure.Options {
	if s := specs[test]; s != nil {
		return s.Defaults
	}
	return measure.Options{}
}

// HasServer reports whether the test has a part for a soku server at the far
// end; see also [NeedsServer].
func HasServer(t measure.Test) bool { return specs[t] != nil && specs[t].Server }

// NeedsServer reports whether a test of these options needs a soku server at
// the far end.
func NeedsServer(o measure.Options, t measure.Test) bool {
	external := specs[t] != nil && specs[t].External != nil && specs[t].External(o)
	return HasServer(t) && !external
}

// CanDiscard reports whether a receiver of the test may have its kernel discard what it
// received: figures of discarded bytes and of read ones are not comparable.
func CanDiscard(t measure.Test) bool {
	return specs[t] != nil && slices.Contains(specs[t].RX, "discard")
}

// DataConnections is how many data connections a session of a test with these
// effective options has.
func DataConnections(o measure.Options, t measure.Test) int {
	if s := specs[t]; s != nil && s.Connections != nil {
		return s.Connections(o)
	}
	return 0
}

// OverUDP reports whether the data connections of a test with these effective options
// are UDP.
func OverUDP(o measure.Options, t measure.Test) bool {
	s := specs[t]
	return s != nil && s.Datagrams != nil && s.Datagrams(o)
}

// Timed are the defaults that tests of a duration share: 10 s with a live line a second.
func Timed() measure.Options {
	return measure.Options{Duration: measure.Duration(10e9), Interval: measure.Duration(1e9), ConnectTimeout: measure.Duration(5e9)}
}

// DurationLength is the [Spec].Length of a test that has a duration.
func DurationLength(o measure.Options) (measure.Duration, bool) { return o.Omit + o.Duration, true }

// AmountLength is how long an amount takes at a rate per second, and false without a rate.
func AmountLength(amount, rate float64) (measure.Duration, bool) {
	if rate <= 0 {
		return 0, false
	}
	return measure.Duration(min(amount/rate, 1e6) * 1e9), true
}
