package pace

import (
	"time"

	"golang.org/x/sys/unix"
)

// precise sleeps in the kernel: the runtime's timers round up to a millisecond
// when all threads are idle. A signal may end it early.
func precise(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &t, nil)
}
