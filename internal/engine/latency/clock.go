package latency

import (
	"runtime"
	"time"
)

// clock counts ns since its start on the monotonic clock, without allocating.
type clock struct{ start time.Time }

func (c clock) now() int64 { return int64(time.Since(c.start)) }

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
	return "monotonic user clock (" + source + " via Go runtime), " + l.String()
}
