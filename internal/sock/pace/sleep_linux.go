package pace

import (
	"time"

	"golang.org/x/sys/unix"
)

// Sleep puts the calling thread to sleep in the kernel: the runtime's timers round up to
// 1 ms when all threads are idle. A signal may end it early.
func Sleep(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &t, nil)
}

// FineSleep makes sleeps of the calling thread, which must be locked, as precise as the
// system allows (PR_SET_TIMERSLACK of prctl(2); the default slack is 50 µs); restore
// undoes that. late is about how late sleeps still end: a caller that must be on time
// polls the clock for that long.
func FineSleep() (late time.Duration, restore func()) {
	if unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) != nil {
		return 80 * time.Microsecond, func() {}
	}
	return 30 * time.Microsecond, func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) }
}
