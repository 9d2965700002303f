package sock

import "runtime"

// Processors is how many processors this process may use, after affinity and, on Linux,
// the limit of the control group. It is read before [ReserveThreads] can raise
// GOMAXPROCS.
var Processors = min(runtime.NumCPU(), runtime.GOMAXPROCS(0))

// ReserveThreads lets the runtime run more threads at once than there are processors. An
// engine's loop makes system calls without notifying the runtime, and keeps a runtime
// processor (P) during the call. Without spare ones the rest of the process would wait
// for it. Call it at program start: it stops the world.
func ReserveThreads() { runtime.GOMAXPROCS(Processors + max(Processors, spareThreads)) }

// spareThreads is the minimum number of threads that may run in addition to the
// processors.
const spareThreads = 6
