// Package limiter bounds how often something is tried, by a key such as the network that a request comes from.
// It does not know what is tried. It starts no goroutines.
package limiter

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxKeys is how many keys are known at a time. Those for which there is no room are limited together.
const maxKeys = 4096

// Limiter allows each key a number of tries in a row, and then one at a time. It is safe for concurrent use.
type Limiter[K comparable] struct {
	every time.Duration
	burst int

	mu   sync.Mutex
	by   map[K]*rate.Limiter
	rest *rate.Limiter // of the keys for which there was no room
	full time.Time     // when there was no room last, after a search of all keys
}

// New allows burst tries of a key in a row, and then one in every.
func New[K comparable](every time.Duration, burst int) *Limiter[K] {
	l := &Limiter[K]{every: every, burst: burst, by: map[K]*rate.Limiter{}}
	l.rest = l.fresh()
	return l
}

func (l *Limiter[K]) fresh() *rate.Limiter { return rate.NewLimiter(rate.Every(l.every), l.burst) }

// Allows reports whether a try of the key is left. It counts none, so that a caller may count failures alone.
func (l *Limiter[K]) Allows(key K) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.by[key]
	if one == nil && len(l.by) >= maxKeys {
		one = l.rest
	}
	return one == nil || one.Tokens() >= 1
}

// Take counts a try of the key, and reports whether it was left.
func (l *Limiter[K]) Take(key K) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.by[key]
	if one == nil {
		if one = l.rest; l.room() {
			one = l.fresh()
			l.by[key] = one
		}
	}
	return one.Allow()
}

// room forgets keys whose tries are long ago if there are too many, and reports whether another one fits. It searches them
// once in every: a flood of keys would have each try wait for a search otherwise.
func (l *Limiter[K]) room() bool {
	if len(l.by) < maxKeys {
		return true
	}
	if time.Since(l.full) < l.every {
		return false
	}
	for key, one := range l.by {
		if one.Tokens() >= float64(l.burst) {
			delete(l.by, key)
		}
	}
	if len(l.by) < maxKeys {
		return true
	}
	l.full = time.Now()
	return false
}

// NetworkOf is what is counted as one of a remote address, host:port: an IPv4 address, or the 64 bits of an IPv6 address that
// name a network, because one host has all addresses in it. The zero value stands for what is not an address.
func NetworkOf(remote string) netip.Prefix {
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
