package server

import (
	"slices"
	"sync"

	"soku/internal/measure"
)

// admission decides who may measure. Without exclusive every session runs at
// once and one beyond max is refused. With it one runs, and up to max wait,
// first come first.
type admission struct {
	max       int // 0: no limit
	exclusive bool

	mu      sync.Mutex
	running []*session
	waiting []*session
}

// enter lets ss run, or puts it into the queue and returns its position there,
// from 1. A full server is an error of kind refused.
func (a *admission) enter(ss *session) (position int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.exclusive && len(a.running) > 0:
		if a.max > 0 && len(a.waiting) >= a.max {
			return 0, measure.Errorf(measure.KindRefused, "busy: one client measures and %d of %d already wait", len(a.waiting), a.max).
				WithHint("try later or start the server with --max-clients")
		}
		a.waiting = append(a.waiting, ss)
		ss.out.queued(len(a.waiting))
		return len(a.waiting), nil
	case !a.exclusive && a.max > 0 && len(a.running) >= a.max:
		return 0, measure.Errorf(measure.KindRefused, "busy: %d of %d clients measure now", len(a.running), a.max).
			WithHint("try later or start the server with --max-clients")
	}
	a.running = append(a.running, ss)
	ss.granted.fire()
	return 0, nil
}

// leave takes ss out and gives its turn to the next; those behind it are told
// their new position.
func (a *admission) leave(ss *session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running = slices.DeleteFunc(a.running, func(x *session) bool { return x == ss })
	from := slices.Index(a.waiting, ss)
	if from >= 0 {
		a.waiting = slices.Delete(a.waiting, from, from+1)
	}
	if len(a.running) == 0 && len(a.waiting) > 0 {
		next := a.waiting[0]
		a.waiting = slices.Delete(a.waiting, 0, 1)
		a.running = append(a.running, next)
		next.granted.fire()
		from = 0
	}
	if from < 0 {
		return
	}
	for i, w := range a.waiting[from:] {
		w.out.queued(from + i + 1)
	}
}

// snapshot copies who runs and who waits, in order.
func (a *admission) snapshot() (running, waiting []*session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.running), slices.Clone(a.waiting)
}
