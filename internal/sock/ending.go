package sock

import (
	"sync/atomic"
	"time"
)

// Ending is the end of a flow that is no failure: somebody else, such as the
// protocol, says that it is over. It is safe for concurrent use.
type Ending struct {
	group  *Group
	over   atomic.Bool
	halted <-chan struct{}
	done   chan struct{} // closed when nobody heeds any more; nil where nobody ever does
	left   chan struct{}
}

// Watch returns the ending of the group's flow that comes when over is closed; nil
// is never. Reads and writes on the group are then given until patience from that
// moment. Leave must be called.
func (g *Group) Watch(over <-chan struct{}, patience time.Duration) *Ending {
	e := &Ending{group: g, halted: g.Stopped()}
	if over == nil {
		return e
	}
	halted := make(chan struct{})
	e.halted, e.done, e.left = halted, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(e.left)
		select {
		case <-over:
			e.End(patience)
			close(halted)
		case <-g.Stopped():
			close(halted)
		case <-e.done:
		}
	}()
	return e
}

// End makes the flow end now, with patience for reads and writes.
func (e *Ending) End(patience time.Duration) {
	e.over.Store(true)
	e.group.Deadline(Now().Add(patience))
}

// Over reports whether the flow is over. It costs a load of a word.
func (e *Ending) Over() bool { return e.over.Load() }

// Halted is closed when over was, or when the group is stopped.
func (e *Ending) Halted() <-chan struct{} { return e.halted }

// Stop stops heeding. It may be called once.
func (e *Ending) Stop() {
	if e.done != nil {
		close(e.done)
		<-e.left
	}
}
