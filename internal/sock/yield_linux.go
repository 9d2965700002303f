package sock

import "golang.org/x/sys/unix"

// Yield gives the processor to another thread of this host if one is ready, and otherwise
// costs a quarter of a microsecond. It is for polling loops with a thread of their own.
func Yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
