// Package tests is the registry of what soku can measure: one file a test, its
// descriptor. A descriptor binds the declaration that the test's engine registers
// ([measure.Spec]: options, defaults, rules) to what shows it: the live table and the
// summary. A new test is a package under engine and one file here; its sentences are a
// file of the catalogue (help.NAME.short, .long and .example, summary.test.NAME and
// plan.test.NAME).
//
// Whoever needs every test to be registered imports this package.
package tests

import (
	"fmt"

	"soku/internal/measure"
	"soku/internal/text"
)

// Descriptor is what the program shows of one test.
type Descriptor struct {
	Test measure.Test
	// Live are the columns of the live table beside the time; nil for a test without one.
	Live func(View) []Column
	// Summary adds the lines between those of the path and of the hosts.
	Summary func(*text.Lines, *measure.Result)
	// Table are the lines of a table between the path and the rest of a summary; nil
	// for a test without one.
	Table func(*measure.Result) []string
	// Rows tells whether results have a table of rows that a person may ask for.
	Rows bool
}

// View is how a test is watched.
type View struct {
	Options measure.Options
	// Sender tells that the peer reports nothing while the test runs, and that this end
	// sends: intervals are then of what was sent.
	Sender bool
}

// Column is one column of a live table.
type Column struct {
	Head  string // key of the catalogue
	Width int    // of the cells, aligned to the right
	Cell  func(measure.Progress) string
}

var descriptors = map[measure.Test]*Descriptor{}

// register adds a test. It is for variables of this package: a test that is there
// already, or that no engine declared, is a defect.
func register(d Descriptor) *Descriptor {
	if descriptors[d.Test] != nil || measure.SpecOf(d.Test) == nil {
		panic(fmt.Sprintf("test %q is registered twice, or declared by no engine", d.Test))
	}
	descriptors[d.Test] = &d
	return &d
}

// Of is the descriptor of a test; nil for a name that no test has.
func Of(t measure.Test) *Descriptor { return descriptors[t] }
