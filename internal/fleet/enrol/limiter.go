package enrol

import (
	"net"
	"net/netip"
	"sync"

	"golang.org/x/time/rate"
)

// maxAddresses is how many addresses with failures are known at a time.
const maxAddresses = 4096

// limiter bounds how often requests from an address may fail. Those that succeed are not counted: many hosts may
// share an address.
type limiter struct {
	every rate.Limit
	burst int

	mu   sync.Mutex
	by   map[netip.Prefix]*rate.Limiter
	rest *rate.Limiter // of the addresses for which there was no room
}

func newLimiter(every rate.Limit, burst int) *limiter {
	return &limiter{every: every, burst: burst, by: map[netip.Prefix]*rate.Limiter{}, rest: rate.NewLimiter(every, burst)}
}

// allows reports whether another request may be tried.
func (l *limiter) allows(address netip.Prefix) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.by[address]
	if one == nil && len(l.by) >= maxAddresses {
		one = l.rest
	}
	return one == nil || one.Tokens() >= 1
}

// failed counts a failure.
func (l *limiter) failed(address netip.Prefix) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.by[address]
	if one == nil {
		if one = l.rest; l.room() {
			one = rate.NewLimiter(l.every, l.burst)
			l.by[address] = one
		}
	}
	_ = one.Allow()
}

// room forgets addresses whose failures are long ago if there are too many.
func (l *limiter) room() bool {
	if len(l.by) < maxAddresses {
		return true
	}
	for address, one := range l.by {
		if one.Tokens() >= float64(l.burst) {
			delete(l.by, address)
		}
	}
	return len(l.by) < maxAddresses
}

// networkOf is what is counted as one: an IPv4 address, or the 64 bits of an IPv6 address that name a network. The
// zero value stands for what is no address.
func networkOf(remote string) netip.Prefix {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return netip.Prefix{}
	}
	a, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Prefix{}
	}
	a = a.Unmap().WithZone("")
	bits := 32
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits) // bits are in range
	return p
}
