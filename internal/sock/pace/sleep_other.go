//go:build !linux

package pace

import "time"

// Sleep sleeps on the runtime's timers. On macOS they are precise; on Windows they end up
// to about 1 ms late, which a schedule's burst makes up for.
func Sleep(d time.Duration) { time.Sleep(d) }

// FineSleep does nothing on this system; late is about how late a sleep ends.
func FineSleep() (late time.Duration, restore func()) { return time.Millisecond, func() {} }
