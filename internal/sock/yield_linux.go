package sock

import "golang.org/x/sys/unix"

// Yield lets another thread of this host have the processor if one wants it, and
// else costs a quarter of a microsecond. It is for loops with a thread of their
// own that would look again at once.
func Yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
