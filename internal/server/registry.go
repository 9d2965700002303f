package server

import (
	"net/netip"
	"sync"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire/native"
)

// registry finds the sessions that live.
type registry struct {
	mu      sync.RWMutex
	byID    map[string]*session
	byKey   map[native.Key]*session
	pending int // not attached yet
	closed  bool
}

func newRegistry() *registry {
	return &registry{byID: map[string]*session{}, byKey: map[native.Key]*session{}}
}

// add counts ss in as well; the caller counts it out of live. It returns an
// error when the server is shutting down or too many sessions wait for somebody
// to attach.
func (r *registry) add(ss *session, live *sync.WaitGroup) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return shutdown()
	}
	if r.pending >= maxPending {
		return measure.Fail(measure.KindRefused, "server.busy.sessions", nil)
	}
	r.pending++
	live.Add(1) // under the lock, so that none is counted in after close
	r.byID[ss.id], r.byKey[ss.key] = ss, ss
	return nil
}

// attached counts ss out of the pending ones, once.
func (r *registry) attached(ss *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !ss.counted {
		ss.counted = true
		r.pending--
	}
}

// remove takes out a session that is over.
func (r *registry) remove(ss *session) {
	r.attached(ss)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byID, ss.id)
	delete(r.byKey, ss.key)
}

func (r *registry) id(id string) *session {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.byID[id]
}

func (r *registry) key(k native.Key) *session {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.byKey[k]
}

// away is how many sessions of an address wait for their clients to reattach.
func (r *registry) away(client netip.Addr) (n int) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, ss := range r.byID {
		if sock.SourceOf(ss.client.Addr()) == sock.SourceOf(client) && ss.isAway() {
			n++
		}
	}
	return n
}

// close refuses sessions from now on.
func (r *registry) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}
