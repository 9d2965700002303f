package sock

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
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

// Expiry is when workers of a flow that wait give up. It is safe for concurrent use.
type Expiry struct {
	group *Group
	from  time.Time
	after atomic.Int64 // ns; 0: never
}

// NewExpiry returns an Expiry for the workers of g that is never.
func NewExpiry(g *Group) *Expiry { return &Expiry{group: g, from: Now()} }

// Set sets it, and the deadline of the group; the zero time is never.
func (e *Expiry) Set(t time.Time) {
	ns := int64(0)
	if !t.IsZero() {
		ns = max(1, int64(t.Sub(e.from)))
	}
	e.after.Store(ns)
	e.group.Deadline(t)
}

// Passed reports whether it has passed at the given time.
func (e *Expiry) Passed(at time.Time) bool {
	after := e.after.Load()
	return after > 0 && int64(at.Sub(e.from)) >= after
}

// Left returns how long a worker may still wait at the given time: at most limit, and at least 1 ms.
func (e *Expiry) Left(limit time.Duration, at time.Time) time.Duration {
	after := e.after.Load()
	if after == 0 {
		return limit
	}
	return max(time.Millisecond, min(limit, time.Duration(after)-at.Sub(e.from)))
}

// First is the time at which the first data of a flow arrived, on any of its streams. It
// is safe for concurrent use.
type First struct {
	once  sync.Once
	begun atomic.Bool
	come  chan struct{} // closed when at is known
	at    time.Time
}

// NewFirst returns a First without a time.
func NewFirst() *First { return &First{come: make(chan struct{})} }

// Come reports whether the first data arrived. It costs one atomic load.
func (f *First) Come() bool { return f.begun.Load() }

// Note records the time at of the first data. It calls then before Await and At return.
// Only the first call has an effect.
func (f *First) Note(at time.Time, then func()) {
	f.once.Do(func() {
		then()
		f.at = at
		f.begun.Store(true)
		close(f.come)
	})
}

// At returns the time, and waits until there is one.
func (f *First) At() time.Time {
	<-f.come
	return f.at
}

// Await waits until the first data arrived or done is closed, and reports whether data
// arrived. If ctx ends first, Await stops g with the cause and waits for done.
func (f *First) Await(ctx context.Context, g *Group, done <-chan struct{}) bool {
	select {
	case <-f.come:
		return true
	case <-done:
	case <-ctx.Done():
		g.Stop(context.Cause(ctx))
		<-done
	}
	select {
	case <-f.come: // done and first data at the same time
		return true
	default:
		return false
	}
}

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
