package iperf3

import (
	"net/netip"
	"sync"

	wire "soku/internal/wire/iperf3"
)

// maxTests is the number of clients that may be connected at the same time, including those that
// wait for their turn. maxAsked is the number of them that may not have sent their parameters yet.
const maxTests, maxAsked = 4096, 1024

// registry finds tests.
type registry struct {
	mu      sync.Mutex
	tests   map[wire.Cookie]*test
	opening map[netip.Addr]*test // that opens UDP streams, by the client's address
}

func newRegistry() *registry {
	return &registry{tests: map[wire.Cookie]*test{}, opening: map[netip.Addr]*test{}}
}

// add makes t known by its cookie. It fails when there are too many, or when the
// cookie is known.
func (r *registry) add(t *test) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.tests) >= maxTests || r.tests[t.cookie] != nil {
		return false
	}
	r.tests[t.cookie] = t
	return true
}

func (r *registry) find(c wire.Cookie) *test {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tests[c]
}

// remove forgets t.
func (r *registry) remove(t *test) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.tests, t.cookie)
	r.closeUDP(t)
}

// openUDP lets t have the UDP streams that come from its client's address, which say
// nothing of the test they are for. It waits until no other test has them.
func (r *registry) openUDP(t *test) error {
	for {
		r.mu.Lock()
		other := r.opening[t.client.Addr()]
		if other == nil {
			r.opening[t.client.Addr()] = t
			r.mu.Unlock()
			return nil
		}
		r.mu.Unlock()
		select {
		case <-other.opened:
		case <-t.ctx.Done():
			return t.cause()
		}
	}
}

// doneUDP ends what openUDP began; more calls do nothing.
func (r *registry) doneUDP(t *test) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closeUDP(t)
}

func (r *registry) closeUDP(t *test) {
	if r.opening[t.client.Addr()] == t {
		delete(r.opening, t.client.Addr())
		close(t.opened)
	}
}

func (r *registry) from(a netip.Addr) *test {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.opening[a]
}
