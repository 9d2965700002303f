//go:build !linux

package pace

import "time"

// precise sleeps on the runtime's timers. On macOS they are fine-grained; on Windows
// they end up to about a millisecond late, which a schedule's burst makes up for.
func precise(d time.Duration) { time.Sleep(d) }
