package latency

import (
	"sync/atomic"
	"time"

	"soku/internal/sock"
)

// clock counts ns since its start on the monotonic clock, without allocating.
type clock struct {
	start time.Time
	held  *atomic.Int64 // ns for which it was stopped, or nil if it never is
}

func (c clock) now() int64 {
	ns := int64(sock.Since(c.start))
	if c.held != nil {
		ns -= c.held.Load()
	}
	return ns
}
