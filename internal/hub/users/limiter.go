package users

import (
	"sync"

	"golang.org/x/time/rate"
)

// Bounds of tries to log in.
const (
	triesOfAddress = 20 // in a row; then one in addressEvery seconds
	addressEvery   = 10
	triesOfName    = 10
	nameEvery      = 30
	maxLimited     = 4096 // names and addresses that are known at a time
)

// limiter bounds how often something is tried, by a key.
type limiter struct {
	every rate.Limit
	burst int

	mu   sync.Mutex
	by   map[string]*rate.Limiter
	rest *rate.Limiter // of the keys for which there was no room
}

func newLimiter(every rate.Limit, burst int) *limiter {
	return &limiter{every: every, burst: burst, by: map[string]*rate.Limiter{}, rest: rate.NewLimiter(every, burst)}
}

// allows counts a try, and reports whether it may be made.
func (l *limiter) allows(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.by[key]
	if one == nil {
		if one = l.rest; l.room() {
			one = rate.NewLimiter(l.every, l.burst)
			l.by[key] = one
		}
	}
	return one.Allow()
}

// room forgets keys whose tries are long ago if there are too many.
func (l *limiter) room() bool {
	if len(l.by) < maxLimited {
		return true
	}
	for key, one := range l.by {
		if one.Tokens() >= float64(l.burst) {
			delete(l.by, key)
		}
	}
	return len(l.by) < maxLimited
}
