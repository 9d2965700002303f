package engine

import (
	"soku/internal/measure"
	"soku/internal/sock"
)

// Flow is how one end runs one direction of a test, in addition to the connections and
// the options of the test. The zero value is a native flow without pinning and without
// live intervals.
type Flow struct {
	// Direction of the data, the same at both ends. A latency test ignores it: its data
	// goes both ways.
	Direction measure.Direction
	// Policy is how the protocol starts, fills and ends the flow. If the protocol ends
	// the flow (Policy.Over), the options may have neither a duration nor an amount.
	Policy FlowPolicy
	// Pins pin the loops of this end to processors; nil pins none.
	Pins *sock.Pins
	// Observe is called with live intervals; it may be nil.
	Observe measure.Observer
}
