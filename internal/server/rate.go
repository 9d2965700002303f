package server

import (
	"sync"
	"time"

	"soku/internal/measure"
)

const (
	// rateWindow is the least time over which the rate of a test is shown: a little less than the
	// usual interval.
	rateWindow = 900 * time.Millisecond
	// rateStale is after how many windows without a byte a rate is not shown any more.
	rateStale = 3
)

// liveRate is the rate of a running test for those who look at the queue, both directions together.
type liveRate struct {
	mu    sync.Mutex
	from  time.Time // of the open window; zero before the first bytes
	bytes int64     // in it
	at    time.Time // when the last window closed
	span  time.Duration
	bps   float64
}

// moved counts bytes that moved in the time before now.
func (r *liveRate) moved(bytes int64, within time.Duration) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.from.IsZero() {
		r.from = now.Add(-within)
	}
	r.bytes += bytes
	if span := now.Sub(r.from); span >= rateWindow {
		r.bps, r.span = float64(r.bytes)*8/span.Seconds(), span
		r.from, r.at, r.bytes = now, now, 0
	}
}

// rate is that of the last window, or 0 if it is unknown.
func (r *liveRate) rate() measure.Rate {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.at) > rateStale*r.span {
		return 0
	}
	return measure.Rate(r.bps)
}
