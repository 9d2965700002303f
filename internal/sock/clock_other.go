//go:build !windows

package sock

import "time"

// Now is [time.Now], which is fine-grained here. What is measured by the
// clock asks this one, for the other is not so on Windows.
func Now() time.Time { return time.Now() }

// Since is the time that passed since t, a reading of [Now].
func Since(t time.Time) time.Duration { return time.Since(t) }
