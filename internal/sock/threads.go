package sock

import "runtime"

// ReserveThreads lets the runtime run more threads at once than there are
// processors. An engine's loop keeps the runtime's processor while its thread is
// in a system call that the runtime is not told of; without spare ones whatever
// else the process does would wait for it. Call it once, at the program's start:
// it stops the world.
func ReserveThreads() {
	if n := runtime.GOMAXPROCS(0); n < spareThreads {
		runtime.GOMAXPROCS(n + spareThreads)
	} else {
		runtime.GOMAXPROCS(2 * n)
	}
}

// spareThreads are at least how many threads beside the processors may run.
const spareThreads = 6
