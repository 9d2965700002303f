package server

import (
	"sync/atomic"
	"time"

	"soku/internal/measure"
)

// allowance is what a test may move under the server's limit on rates: a tenth over
// the rate since it began, and a second of it or 16 MB for what was under way. It may
// be used from any goroutine.
type allowance struct {
	perSecond float64 // bytes; 0 is no limit
	begin     time.Time
	spent     atomic.Int64
}

func newAllowance(limit measure.Rate) *allowance {
	return &allowance{perSecond: float64(limit) / 8, begin: time.Now()}
}

// spend takes bytes off, and tells whether that was more than there is.
func (a *allowance) spend(bytes int64) (over bool) {
	if a.perSecond == 0 {
		return false
	}
	spent := a.spent.Add(bytes)
	return float64(spent) > 1.1*a.perSecond*time.Since(a.begin).Seconds()+max(a.perSecond, 16e6)
}
