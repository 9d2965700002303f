package engine

import (
	"soku/internal/measure"
	"soku/internal/sock"
)

// Flow is how one end runs one direction of a test, beside the connections and the
// options of the test. The zero value is a native flow whose loops run on any
// processor and that nobody watches.
type Flow struct {
	// Direction of the data, the same at both ends. It says nothing to a latency test,
	// which goes both ways.
	Direction measure.Direction
	// Policy is how the protocol starts, fills and ends the flow. Of a flow that the
	// protocol ends (Policy.Over), the options may have neither a duration nor an amount.
	Policy FlowPolicy
	// Pins keep the loops of this end on processors; nil keeps none.
	Pins *sock.Pins
	// Observe gets live intervals; nil is nobody.
	Observe measure.Observer
}
