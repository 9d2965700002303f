package latency

import (
	"runtime"
	"sync/atomic"
	"time"
)

// clock counts ns since its start on the monotonic clock, without allocating.
type clock struct {
	start time.Time
	held  *atomic.Int64 // ns for which it stood still; nil where it never does
}

func (c clock) now() int64 {
	ns := int64(time.Since(c.start))
	if c.held != nil {
		ns -= c.held.Load()
	}
	return ns
}

// clockText names the clock and how messages reach the kernel, for a result.
func clockText(l link) string {
	source := "the monotonic clock of the system"
	switch runtime.GOOS {
	case "linux":
		source = "CLOCK_MONOTONIC"
	case "darwin":
		source = "mach_absolute_time"
	case "windows":
		source = "QueryPerformanceCounter"
	}
	return "monotonic clock (" + source + " via Go runtime), " + l.String()
}
