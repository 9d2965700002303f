package series

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is the processor time of this thread: what a source takes does not depend on
// what else runs.
func processorTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
