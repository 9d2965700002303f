package sock

import (
	"net"
	"sync"
	"time"
)

// Group is the connections of one flow. They end together: the first failure, or the end
// of the context, stops every read and write on all of them. It is safe for concurrent
// use.
type Group struct {
	conns []net.Conn
	done  chan struct{}

	mu      sync.Mutex
	err     error
	last    time.Time // no deadline is later once the flow has ended; zero before
	changed []func()
}

// past is a deadline that has always expired.
var past = time.Unix(1, 0)

// NewGroup returns the group of conns. The group does not close them.
func NewGroup[C net.Conn](conns []C) *Group {
	g := &Group{conns: make([]net.Conn, len(conns)), done: make(chan struct{})}
	for i, c := range conns {
		g.conns[i] = c
	}
	return g
}

// Stop makes every present and later read and write on the group return immediately. The first
// err is kept; it must not be nil.
func (g *Group) Stop(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return
	}
	g.err = err
	close(g.done)
	for _, c := range g.conns {
		_ = c.SetDeadline(past)
	}
	g.tell()
}

// OnChange calls f whenever the group is stopped or its deadline is set. f must not block and
// must not call the group.
func (g *Group) OnChange(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.changed = append(g.changed, f)
}

func (g *Group) tell() {
	for _, f := range g.changed {
		f()
	}
}

// Stopped is closed by the first [Group.Stop].
func (g *Group) Stopped() <-chan struct{} { return g.done }

// Err returns the error that stopped the group, or nil if it was not stopped.
func (g *Group) Err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// Deadline sets the deadline of all connections unless the group was stopped. A zero time
// means no deadline. Once an [Ending] has ended the flow, no later deadline than its own
// takes effect: a flow may end while its engine still prepares.
func (g *Group) Deadline(t time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.deadline(t)
}

// end is Deadline for the end of the flow: later deadlines have no effect from now on.
func (g *Group) end(t time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.last.IsZero() || t.Before(g.last) {
		g.last = t
	}
	g.deadline(t)
}

// deadline is Deadline, called with the lock.
func (g *Group) deadline(t time.Time) {
	if g.err != nil {
		return
	}
	t = g.bounded(t)
	for _, c := range g.conns {
		_ = c.SetDeadline(t)
	}
	g.tell()
}

// bounded returns t, or the end of the flow where that is earlier.
func (g *Group) bounded(t time.Time) time.Time {
	if !g.last.IsZero() && (t.IsZero() || t.After(g.last)) {
		return g.last
	}
	return t
}

// DeadlineOf sets the deadline of connection i, unless the group was stopped.
func (g *Group) DeadlineOf(i int, t time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil {
		_ = g.conns[i].SetDeadline(g.bounded(t))
	}
}
