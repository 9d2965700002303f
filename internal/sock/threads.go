package sock

import "runtime"

// Processors is how many processors this process may use, after affinity and, on
// Linux, the limit of the control group. It is read before [ReserveThreads] can
// raise what the runtime uses.
var Processors = min(runtime.NumCPU(), runtime.GOMAXPROCS(0))

// ReserveThreads lets the runtime run more threads at once than there are
// processors. An engine's loop keeps the runtime's processor while its thread is
// in a system call that the runtime is not told of; without spare ones whatever
// else the process does would wait for it. Call it when the program starts: it stops
// the world.
func ReserveThreads() { runtime.GOMAXPROCS(Processors + max(Processors, spareThreads)) }

// spareThreads are at least how many threads beside the processors may run.
const spareThreads = 6
