package server

import (
	"container/list"
	"net/netip"
	"sync"

	"soku/internal/sock"
)

// FairLimit bounds how many connections are open that have not shown yet what they are
// for, and shares them among the addresses that they come from. One address may have all
// of them while no other wants any. When all are taken, one more takes the place of the
// oldest of the address that has most, or the oldest of all where each has one. So many
// connections of one address keep out that address alone.
//
// Addresses count as [sock.SourceOf] says. A FairLimit may be used from any goroutine.
type FairLimit struct {
	most         int
	maxEvictable int        // of those that can lose their place; 0: most
	room         func() int // at most this many, too, at the moment; nil: always most

	mu        sync.Mutex
	have      int
	evictable int // of them
	sources   map[netip.Prefix]*source
	seq       uint64
}

// source is an address, or a network of IPv6.
type source struct {
	have      int
	evictable list.List // of *Held, oldest first: those that can lose their place
}

// Held is a place under a FairLimit.
type Held struct {
	limit     *FairLimit
	from      netip.Prefix
	seq       uint64
	close     func()
	evictable *list.Element // nil while it is pinned, and once it is lost
	ending    bool          // released, or lost
}

// NewFairLimit returns a limit of most connections.
func NewFairLimit(most int) *FairLimit {
	return &FairLimit{most: most, sources: map[netip.Prefix]*source{}}
}

// Hold takes a place for a connection from an address, which lose closes if the place goes
// to another. It returns nil if all are taken by connections that are kept, or by addresses
// that have fewer. lose is called at most once, from the Hold of the other connection.
func (l *FairLimit) Hold(from netip.Addr, lose func()) *Held {
	h := &Held{limit: l, from: sock.SourceOf(from), close: lose}
	most := l.most
	if l.room != nil {
		most = max(1, min(most, l.room()))
	}
	l.mu.Lock()
	s := l.sources[h.from]
	if s == nil {
		s = &source{}
	}
	var lost *Held
	if l.have >= most || l.maxEvictable > 0 && l.evictable >= l.maxEvictable {
		if lost = l.victim(s); lost == nil {
			l.mu.Unlock()
			return nil
		}
		l.remove(lost)
	}
	l.sources[h.from] = s
	l.seq++
	h.seq = l.seq
	s.have++
	l.have++
	h.evictable = s.evictable.PushBack(h)
	l.evictable++
	l.mu.Unlock()
	if lost != nil {
		lost.close()
	}
	return h
}

// victim is the oldest connection, that can lose its place, of the source that has most,
// if that is own or has more than own; otherwise nil. Called with the lock.
func (l *FairLimit) victim(own *source) (found *Held) {
	most := 0
	consider := func(s *source, have int) {
		if s.evictable.Len() == 0 || have < most {
			return
		}
		oldest := s.evictable.Front().Value.(*Held)
		if have > most || oldest.seq < found.seq {
			most, found = have, oldest
		}
	}
	for _, s := range l.sources {
		if s != own && s.have > own.have {
			consider(s, s.have)
		}
	}
	consider(own, own.have+1) // with the connection that asks
	return found
}

// remove takes h out; called with the lock.
func (l *FairLimit) remove(h *Held) {
	if h.ending {
		return
	}
	h.ending = true
	s := l.sources[h.from]
	l.pin(h)
	l.have--
	if s.have--; s.have == 0 {
		delete(l.sources, h.from)
	}
}

// pin removes h from those that can lose their place; it is called with the lock.
func (l *FairLimit) pin(h *Held) {
	if h.evictable != nil {
		l.sources[h.from].evictable.Remove(h.evictable)
		h.evictable = nil
		l.evictable--
	}
}

// open is how many places are taken.
func (l *FairLimit) open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.have
}

// Pin reserves the place for the connection until Release or MakeEvictable. It returns false
// if the connection has lost the place.
func (h *Held) Pin() bool {
	h.limit.mu.Lock()
	defer h.limit.mu.Unlock()
	h.limit.pin(h)
	return !h.ending
}

// MakeEvictable lets the place go to another connection again, after Pin.
func (h *Held) MakeEvictable() {
	h.limit.mu.Lock()
	defer h.limit.mu.Unlock()
	if h.evictable == nil && !h.ending {
		h.evictable = h.limit.sources[h.from].evictable.PushBack(h)
		h.limit.evictable++
	}
}

// Release gives the place back; more calls do nothing.
func (h *Held) Release() {
	h.limit.mu.Lock()
	defer h.limit.mu.Unlock()
	h.limit.remove(h)
}
