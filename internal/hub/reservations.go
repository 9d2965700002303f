package hub

import (
	"context"
	"slices"
	"strings"
	"sync"

	"soku/internal/measure"
)

// Reservations is the hosts that trials have, over all campaigns of a hub. A reservation has all its
// hosts or none, so that no two wait for each other. Of those that wait for a host the first has it first:
// a later reservation overtakes only where it shares no host with an earlier one.
type Reservations struct {
	mu      sync.Mutex
	held    map[string]*use // by host
	waiting []*claim        // in the order in which they came
	bells   map[chan struct{}]bool
}

// use is who has a host.
type use struct {
	holders []string // one an open reservation
	shared  bool
}

type claim struct {
	holder  string
	hosts   []string
	shared  bool
	granted chan struct{}
}

// Wait is a reservation that is not granted yet.
type Wait struct {
	Holder string
	Hosts  []string // that it wants
	For    []string // holders that have one of them, or wait for one before it; sorted
}

// NewReservations returns reservations of which all hosts are free.
func NewReservations() *Reservations {
	return &Reservations{held: map[string]*use{}, bells: map[chan struct{}]bool{}}
}

// Reserve waits until all hosts are free and takes them. Hosts that are shared are free for others that
// share them. The caller calls release once it has done; a second call does nothing. The error is the
// cause of ctx.
func (r *Reservations) Reserve(ctx context.Context, holder string, hosts []string, shared bool) (release func(), err error) {
	if ctx.Err() != nil {
		return nil, measure.AsError(context.Cause(ctx), measure.KindInterrupted)
	}
	hosts = slices.Clone(hosts)
	slices.Sort(hosts)
	c := &claim{holder, slices.Compact(hosts), shared, make(chan struct{})}
	r.mu.Lock()
	r.waiting = append(r.waiting, c)
	r.grant()
	r.mu.Unlock()
	select {
	case <-c.granted:
		return sync.OnceFunc(func() { r.release(c) }), nil
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-c.granted: // meanwhile
		r.free(c)
	default:
		r.waiting = slices.DeleteFunc(r.waiting, func(other *claim) bool { return other == c })
	}
	r.grant()
	return nil, measure.AsError(context.Cause(ctx), measure.KindInterrupted)
}

func (r *Reservations) release(c *claim) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.free(c)
	r.grant()
}

func (r *Reservations) free(c *claim) {
	for _, host := range c.hosts {
		u := r.held[host]
		i := slices.Index(u.holders, c.holder)
		u.holders = slices.Delete(u.holders, i, i+1)
		if len(u.holders) == 0 {
			delete(r.held, host)
		}
	}
}

// grant gives hosts to those that wait, in their order. A host that an earlier one waits for is kept for it.
func (r *Reservations) grant() {
	wanted := map[string]bool{} // by a claim that waits; true: by one that does not share it
	r.waiting = slices.DeleteFunc(r.waiting, func(c *claim) bool {
		if slices.ContainsFunc(c.hosts, func(host string) bool { return r.blocks(c, host, wanted) }) {
			for _, host := range c.hosts {
				wanted[host] = wanted[host] || !c.shared
			}
			return false
		}
		for _, host := range c.hosts {
			u := r.held[host]
			if u == nil {
				u = &use{shared: c.shared}
				r.held[host] = u
			}
			u.holders = append(u.holders, c.holder)
		}
		close(c.granted)
		return true
	})
	for bell := range r.bells {
		ring(bell)
	}
}

// blocks reports whether a claim must wait for a host.
func (r *Reservations) blocks(c *claim, host string, wanted map[string]bool) bool {
	u := r.held[host]
	alone, before := wanted[host]
	return u != nil && (!u.shared || !c.shared) || before && (alone || !c.shared)
}

// Waiting is the reservations that wait, the first first.
func (r *Reservations) Waiting() []Wait {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]Wait, len(r.waiting))
	for i, c := range r.waiting {
		out[i] = Wait{c.holder, slices.Clone(c.hosts), r.before(i)}
	}
	return out
}

// before is whom the claim at a place of the queue waits for.
func (r *Reservations) before(at int) (holders []string) {
	c := r.waiting[at]
	for _, host := range c.hosts {
		if u := r.held[host]; u != nil && (!u.shared || !c.shared) {
			holders = append(holders, u.holders...)
		}
	}
	for _, earlier := range r.waiting[:at] {
		if (!earlier.shared || !c.shared) && slices.ContainsFunc(c.hosts, func(host string) bool { return slices.Contains(earlier.hosts, host) }) {
			holders = append(holders, earlier.holder)
		}
	}
	slices.SortFunc(holders, strings.Compare)
	return slices.Compact(holders)
}

// Watch returns a channel that has an element when hosts were taken or became free since the last one was
// received. The caller calls stop.
func (r *Reservations) Watch() (changes <-chan struct{}, stop func()) {
	bell := make(chan struct{}, 1)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bells[bell] = true
	return bell, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.bells, bell)
	}
}
