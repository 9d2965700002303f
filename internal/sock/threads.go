package sock

import (
	"runtime"
	"sync"
)

// Processors is how many processors this process may use, after affinity and, on
// Linux, the limit of the control group. It is read before [ReserveThreads] can
// raise what the runtime uses.
var Processors = min(runtime.NumCPU(), runtime.GOMAXPROCS(0))

// ReserveThreads lets the runtime run more threads at once than there are
// processors. An engine's loop keeps the runtime's processor while its thread is
// in a system call that the runtime is not told of; without spare ones whatever
// else the process does would wait for it. It stops the world the first time and does
// nothing after that; call it before loops run. A program that has them from its start
// makes threads and touches memory for goroutines that do little: 1 to 2 ms of what a
// trial takes to its first packet.
func ReserveThreads() { reserve() }

var reserve = sync.OnceFunc(func() { runtime.GOMAXPROCS(Processors + max(Processors, spareThreads)) })

// spareThreads are at least how many threads beside the processors may run.
const spareThreads = 6
