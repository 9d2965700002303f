package sock

import (
	"time"

	"golang.org/x/sys/unix"
)

// FineSleep makes the sleeps of the calling thread, which must be locked, end on
// time, where 50 µs of slack is the default (PR_SET_TIMERSLACK of prctl(2)). The
// returned function takes that back.
func FineSleep() (restore func()) {
	if unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) != nil {
		return func() {}
	}
	return func() { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, 0, 0, 0, 0) }
}

// Sleep puts the calling thread to sleep: the runtime's timers round up to a
// millisecond when all threads are idle. A signal may end it early.
func Sleep(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &t, nil)
}
