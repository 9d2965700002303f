package engine

import (
	"context"
	"math"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/pace"
)

// Limit is what the operator of this end lets a test move, whatever the other end asks
// for. The zero value is no limit. Both directions may share one budget. How the end of a
// test whose peer sends more reaches the engine is the caller's: it ends the context when
// [pace.Budget.Over] is closed.
type Limit struct {
	In, Out *pace.Budget // nil: no limit
}

// Of returns the budget of a flow at the end with this role.
func (l Limit) Of(role measure.Role) *pace.Budget {
	if role == measure.Sender {
		return l.Out
	}
	return l.In
}

// None reports whether there is no limit.
func (l Limit) None() bool { return l.In == nil && l.Out == nil }

// Draw takes off bytes that came and were answered, as [pace.Budget.Draw] does.
func (l Limit) Draw(in, out int64) bool {
	ok := l.In == nil || l.In.Draw(in)
	return (l.Out == nil || out == 0 || l.Out.Draw(out)) && ok
}

// Exceeded waits for the end of a test that exceeded its limit, and returns its cause.
func Exceeded(ctx context.Context) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// Exchange returns how many bytes may come and be answered with as many before the next
// Draw.
func (l Limit) Exchange() int64 {
	left := int64(math.MaxInt64)
	if l.In != nil {
		left = l.In.Left()
	}
	switch l.Out {
	case nil:
	case l.In:
		left /= 2
	default:
		left = min(left, l.Out.Left())
	}
	return left
}

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
	// Limit is that of this end.
	Limit Limit
	// FarOptions says that the far end chose the options: sockets get only what the system
	// lets any user set ([sock.Settings].Unprivileged).
	FarOptions bool
	// Later runs what a flow still does when its counts are complete: a sender of datagrams repeats
	// how many there were. It ends with its context. nil: the flow ends after it.
	Later func(func(context.Context))
	// Reconnect opens connections again that were cut, or is nil if the end cannot.
	Reconnect *Reconnect
}
