package pace

import (
	"time"

	"golang.org/x/sys/unix"
)

// Sleep puts the calling thread to sleep in the kernel: the runtime's timers round
// up to a millisecond when all threads are idle. A signal may end it early.
func Sleep(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &t, nil)
}

// FineSleep makes the sleeps of the calling thread, which must be locked, end as
// nearly on time as the system can, where 50 µs of slack is the default
// (PR_SET_TIMERSLACK of prctl(2)); restore takes that back. late is about how late
// they then still end: whoever has to be on time looks at the clock for so long.
func FineSleep() (late time.Duration, restore func()) {
	if unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) != nil {
		return 80 * time.Microsecond, func() {}
	}
	return 30 * time.Microsecond, func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) }
}
