package tests

import (
	"context"
	"fmt"
	"net/netip"

	"soku/internal/engine"
	"soku/internal/engine/flows"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/sock"
	"soku/internal/text"
	"soku/internal/wire"
)

// Descriptor is how the program runs one test and what it shows of it. Of Open and Serverless
// a test has one, or both if it needs a server only for some options.
type Descriptor struct {
	Test measure.Test

	// Prepare does what the client can do before the session is open; nil is nothing.
	Prepare func(measure.Options)
	// Before makes what a trial measures with and returns the descriptor of that trial, and
	// what frees it again. It comes before the session and may take long; nil is nothing.
	Before func(context.Context, measure.Options) (of *Descriptor, free func(), err error)
	// Open opens what the client's end moves packets over.
	Open func(context.Context, wire.Session, measure.Options) (ClientEnd, error)
	// Accept opens at the server, before the client is answered, what takes the test's
	// connections, for clients of the given addresses. Accept is nil for a test without
	// connections. Together with an error it may return an Acceptor without a port of its own.
	Accept func(e Engines, local netip.Addr, peers []netip.Addr, o measure.Options) (Acceptor, error)
	// Admit refuses options that the server has no means for, with an error of kind refused.
	// If it is nil, all options are allowed.
	Admit func(Engines, measure.Options) error
	// Serve runs the server's end and returns what it counted, also together with an error. It
	// returns within 100 ms of the context's end.
	Serve func(context.Context, ServerEnd) (*measure.End, error)
	// Limit holds the options to the highest rate of a server, and reports what it lowered.
	Limit func(measure.Rate, measure.Options) (measure.Options, measure.Findings)
	// Serverless measures without a server.
	Serverless func(context.Context, Serverless) (ServerlessResult, error)
	// Overhead measures on loopback what tool and host add to figures like those of the
	// client's end. It is nil if a test has no such figure.
	Overhead func(context.Context, measure.Options, *measure.End) (*measure.FloorReading, error)
	// Conditions are what Overhead depends on: a reading is reused for a trial on the same host with
	// equal ones.
	Conditions func(measure.Options, *measure.End) string
	// Finish adds what the test alone has to the result of both ends; nil is nothing.
	Finish func(*measure.Result)
	// Compare reports figures that are near the stored loopback baseline of the host; nil
	// compares nothing.
	Compare func(*measure.Result, *measure.HostFloor)

	// Args are the options of the test alone as the sentences summary.test.NAME and
	// plan.test.NAME have them. It is nil without such options.
	Args func(measure.Options) text.Args
	// Live returns the columns of the live table without the time. It is nil for a test without
	// a table.
	Live func(View) []Column
	// Summary adds the lines between those of the path and of the hosts.
	Summary func(*text.Lines, *measure.Result)
	// Table are the lines of a table between the path and the rest of a summary; nil
	// for a test without one.
	Table func(*text.Catalogue, *measure.Result) []string
	// Rows reports whether results have a table of rows that a person may ask for.
	Rows bool
}

// ClientEnd is the client's end of a test, ready to start.
type ClientEnd struct {
	// Conns are the data connections; the caller that opened the end closes them.
	Conns flows.Conns
	// Run moves the packets and returns what this end counted, also together with an error. It
	// returns within 100 ms of the context's end.
	Run func(context.Context, measure.Options, engine.Flow) (*measure.End, error)
}

// Serverless is the input of a test without a server.
type Serverless struct {
	Target  netip.Addr
	Options measure.Options // effective
	Pins    *sock.Pins
	// Begin is called once, right before the first packet; what it fails with ends the test.
	Begin   func() error
	Observe measure.Observer
	// Trace and MTU get what tests of the path know so far; see the hooks of package trial.
	Trace func(*measure.Trace)
	MTU   func(measure.MTUStep)
}

// ServerlessResult is the output of a test without a server; members that it does not have are nil.
type ServerlessResult struct {
	End      measure.End
	Overhead *measure.FloorReading
	Trace    *measure.Trace
	PathMTU  *measure.PathMTU
	Duration measure.Duration // of a test that has no samples or rows of its own
	Findings measure.Findings
}

// View is how a test is watched.
type View struct {
	Options measure.Options
	// Sender: the peer reports nothing while the test runs, and that this end
	// sends: intervals are then of what was sent.
	Sender bool
}

// Column is one column of a live table.
type Column struct {
	Head  string // key of the catalogue
	Width int    // of the cells, aligned to the right
	Cell  func(*text.Catalogue, measure.Progress) string
}

var descriptors = map[measure.Test]*Descriptor{}

// register adds a test before main. A test that is there already, or that no engine
// declared, is a defect.
func register(d Descriptor) {
	if descriptors[d.Test] != nil || option.SpecOf(d.Test) == nil {
		panic(fmt.Sprintf("test %q is registered twice, or declared by no engine", d.Test))
	}
	descriptors[d.Test] = &d
}

// OptionArgs returns the arguments of sentences about the options of a test, without the shared
// ones.
func OptionArgs(t measure.Test, o measure.Options) text.Args {
	if d := Of(t); d != nil && d.Args != nil {
		return d.Args(o)
	}
	return nil
}

// Of returns the descriptor of a test, or nil if there is no such test.
func Of(t measure.Test) *Descriptor { return descriptors[t] }
