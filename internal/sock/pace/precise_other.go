//go:build !linux

package pace

import "time"

// precise sleeps on the runtime's timers, which are fine-grained here.
func precise(d time.Duration) { time.Sleep(d) }
