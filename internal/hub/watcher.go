package hub

import (
	"slices"
	"sync"
	"time"
)

// Watcher hears of agents that change: a hello, another state, another trial that runs, another number of
// spooled results. Changes of one agent that are not fetched are one, so that a slow reader holds no more
// than all agents.
type Watcher struct {
	C <-chan struct{} // has an element if there are changes to fetch

	registry *Registry
	bell     chan struct{}
	mu       sync.Mutex
	ids      map[string]bool
}

// Watch begins to watch. The caller stops the watcher.
func (r *Registry) Watch() *Watcher {
	bell := make(chan struct{}, 1)
	w := &Watcher{C: bell, registry: r, bell: bell, ids: map[string]bool{}}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watchers[w] = true
	return w
}

// Changed is the agents that have changed since the last call, as they are now, sorted by name.
func (w *Watcher) Changed() []Agent {
	w.mu.Lock()
	ids := w.ids
	w.ids = map[string]bool{}
	w.mu.Unlock()
	now := time.Now()
	w.registry.mu.Lock()
	defer w.registry.mu.Unlock()
	out := make([]Agent, 0, len(ids))
	for id := range ids {
		if k := w.registry.agents[id]; k != nil {
			out = append(out, k.as(now, w.registry.hub.cfg.Silence))
		}
	}
	slices.SortFunc(out, byName)
	return out
}

// Stop ends the watcher.
func (w *Watcher) Stop() {
	w.registry.mu.Lock()
	defer w.registry.mu.Unlock()
	delete(w.registry.watchers, w)
}

// changed tells the watchers of an agent. The registry's mutex is held.
func (r *Registry) changed(k *known) {
	k.shown = k.as(time.Now(), r.hub.cfg.Silence).State
	for w := range r.watchers {
		w.mu.Lock()
		w.ids[k.ID] = true
		w.mu.Unlock()
		ring(w.bell)
	}
}

// ring has a bell of one element ring, if it does not yet.
func ring(bell chan<- struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}
