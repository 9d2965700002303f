//go:build !linux

package pace

import "time"

// FineBurst is the burst of a schedule whose waits are those of [Waiter.WaitFine].
const FineBurst = 4 * time.Millisecond

// precise sleeps on the runtime's timers, which are fine-grained here.
func precise(d time.Duration) { time.Sleep(d) }
