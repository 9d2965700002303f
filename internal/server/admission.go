package server

import (
	"slices"
	"sync"

	"soku/internal/measure"
	"soku/internal/wire/native"
)

// waiter is a request for a turn, of any protocol. Its
// methods are called with the admission locked: they return immediately and do not call it.
type waiter interface {
	grant()              // it is its turn
	queued(position int) // it waits, at that place from 1
	// yields aborts the session if its client has no connection, and reports whether it did.
	yields() bool
	shown() native.QueueEntry
}

// admission decides who may measure. Without exclusive every session runs at
// once and one beyond max is refused. With it one runs, and up to max wait,
// first come first. A running session whose client is gone is ended when another client asks.
type admission struct {
	max       int // 0: no limit
	exclusive bool

	mu      sync.Mutex
	running []waiter
	waiting []waiter
}

// enter lets e run, or puts it into the queue and returns its position there,
// from 1. A full server is an error of kind refused.
func (a *admission) enter(e waiter) (position int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.exclusive && len(a.running) > 0:
		a.yield()
		if a.max > 0 && len(a.waiting) >= a.max {
			return 0, measure.Fail(measure.KindRefused, "server.busy.queue", measure.Figures{"waiting": len(a.waiting), "limit": a.max})
		}
		a.waiting = append(a.waiting, e)
		e.queued(len(a.waiting))
		return len(a.waiting), nil
	case !a.exclusive && a.max > 0 && len(a.running) >= a.max && !a.yield():
		return 0, measure.Fail(measure.KindRefused, "server.busy.clients", measure.Figures{"running": len(a.running), "limit": a.max})
	}
	a.running = append(a.running, e)
	e.grant()
	return 0, nil
}

// yield ends one that runs without its client, and reports whether its place is free. An exclusive
// place is free when everything of it has ended. It is called with the lock.
func (a *admission) yield() bool {
	i := slices.IndexFunc(a.running, waiter.yields)
	if i < 0 || a.exclusive {
		return false
	}
	a.running = slices.Delete(a.running, i, i+1)
	return true
}

// lost is called when one that runs may have lost its client.
func (a *admission) lost() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.waiting) > 0 {
		a.yield()
	}
}

// leave removes e and gives its turn to the next; those behind it get their new position.
func (a *admission) leave(e waiter) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running = slices.DeleteFunc(a.running, func(x waiter) bool { return x == e })
	from := slices.Index(a.waiting, e)
	if from >= 0 {
		a.waiting = slices.Delete(a.waiting, from, from+1)
	}
	if len(a.running) == 0 && len(a.waiting) > 0 {
		next := a.waiting[0]
		a.waiting = slices.Delete(a.waiting, 0, 1)
		a.running = append(a.running, next)
		next.grant()
		from = 0
	}
	if from < 0 {
		return
	}
	for i, w := range a.waiting[from:] {
		w.queued(from + i + 1)
	}
}

// snapshot copies who runs and who waits, in order.
func (a *admission) snapshot() (running, waiting []waiter) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.running), slices.Clone(a.waiting)
}
