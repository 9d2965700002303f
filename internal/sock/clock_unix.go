//go:build unix

package sock

import (
	"runtime"
	"time"
)

// ClockSource names the clock behind [Now].
var ClockSource = map[string]string{"linux": "CLOCK_MONOTONIC", "darwin": "mach_absolute_time"}[runtime.GOOS]

// Now returns [time.Now], which has a fine resolution on this system. Measuring code
// calls Now and not time.Now because the resolution of time.Now is coarse on Windows.
func Now() time.Time { return time.Now() }

// Since returns the time since t, which must come from [Now].
func Since(t time.Time) time.Duration { return time.Since(t) }
