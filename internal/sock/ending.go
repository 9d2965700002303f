package sock

import (
	"errors"
	"net"
	"sync/atomic"
	"time"
)

// Ending is the regular end of a flow, requested from outside, for example by the
// protocol. It is safe for concurrent use.
type Ending struct {
	group  *Group
	over   atomic.Bool
	halted <-chan struct{}
	done   chan struct{} // closed by Stop, or nil if there is nothing to watch
	left   chan struct{}
}

// Watch returns an Ending that takes effect when over is closed; a nil over never ends
// the flow. From that moment on, reads and writes on the group fail after grace. The
// caller must call [Ending.Stop].
func (g *Group) Watch(over <-chan struct{}, grace time.Duration) *Ending {
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
			e.End(grace)
			close(halted)
		case <-g.Stopped():
			close(halted)
		case <-e.done:
		}
	}()
	return e
}

// End ends the flow now. Reads and writes fail after grace.
func (e *Ending) End(grace time.Duration) {
	e.over.Store(true)
	e.group.end(Now().Add(grace))
}

// Over reports whether the flow has ended. It costs one atomic load.
func (e *Ending) Over() bool { return e.over.Load() }

// Halted is closed when over is closed or the group is stopped.
func (e *Ending) Halted() <-chan struct{} { return e.halted }

// Stop stops watching. It may be called once.
func (e *Ending) Stop() {
	if e.done != nil {
		close(e.done)
		<-e.left
	}
}

// TimedOut reports whether err means that a call on a socket timed out: by a deadline, or
// by a time-out of the system.
func TimedOut(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}
