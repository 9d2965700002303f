//go:build !linux

package pace

import "time"

// Sleep sleeps on the runtime's timers. On macOS they are fine-grained; on Windows
// they end up to about a millisecond late, which a schedule's burst makes up for.
func Sleep(d time.Duration) { time.Sleep(d) }

// FineSleep changes nothing here; late is about how late a sleep ends.
func FineSleep() (late time.Duration, restore func()) { return time.Millisecond, func() {} }
