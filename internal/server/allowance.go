package server

import (
	"math"
	"sync"
	"time"

	"soku/internal/measure"
)

// Allowance is what a test may move under the server's limit on rates: a tenth over
// the rate since it began, and a second of it or 16 MB for what was under way. It may
// be used from any goroutine.
type Allowance struct {
	perSecond float64 // bytes; 0 is no limit
	most      float64 // bytes that are saved up at most

	mu     sync.Mutex
	credit float64   // bytes
	at     time.Time // when credit was that
}

// NewAllowance begins one now. saved is how long what is not moved can be saved up; 0 is
// for a test that lasts as long as bytes are moved.
func NewAllowance(limit measure.Rate, saved time.Duration) *Allowance {
	a := &Allowance{perSecond: float64(limit) / 8, most: math.Inf(1), at: time.Now()}
	a.credit = max(a.perSecond, 16e6)
	if saved > 0 {
		a.most = a.credit + 1.1*a.perSecond*saved.Seconds()
	}
	return a
}

// Spend takes bytes off, and reports whether that was more than there is.
func (a *Allowance) Spend(bytes int64) (over bool) {
	if a.perSecond == 0 {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	a.credit = min(a.most, a.credit+1.1*a.perSecond*now.Sub(a.at).Seconds()) - float64(bytes)
	a.at = now
	return a.credit < 0
}
