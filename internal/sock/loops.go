package sock

import (
	"net"
	"runtime"
	"slices"
)

// Processors is how many processors this process may use, after affinity and, on Linux,
// the limit of the control group. It is read before [ReserveThreads] can raise
// GOMAXPROCS.
var Processors = min(runtime.NumCPU(), runtime.GOMAXPROCS(0))

// ReserveThreads lets the runtime run more threads in parallel than there are processors. An
// engine's loop makes system calls without notifying the runtime, and keeps a runtime
// processor (P) during the call. Without spare ones the rest of the process would wait
// for it. Call it at program start: it stops the world.
func ReserveThreads() { runtime.GOMAXPROCS(Processors + max(Processors, spareThreads)) }

// spareThreads is the minimum number of threads that may run in addition to the
// processors.
const spareThreads = 6

// Deal distributes the indices of conns connections over n loops, round robin. The result
// has one element a loop, and no more elements than there are connections.
func Deal(conns, n int) [][]int {
	loops := make([][]int, min(n, conns))
	for i := range conns {
		loops[i%len(loops)] = append(loops[i%len(loops)], i)
	}
	return loops
}

// Pick returns the elements with these indices.
func Pick[T any](all []T, indices []int) []T {
	out := make([]T, len(indices))
	for k, i := range indices {
		out[k] = all[i]
	}
	return out
}

// Conns converts a slice of concrete connections to a slice of [net.Conn].
func Conns[C net.Conn](in []C) []net.Conn {
	out := make([]net.Conn, len(in))
	for i, c := range in {
		out[i] = c
	}
	return out
}

// Preferred returns the paths to try in order: for "auto" all that the system has,
// otherwise the requested one if the system has it.
func Preferred(asked string, have []string) []string {
	if asked == "" || asked == "auto" {
		return have
	}
	if slices.Contains(have, asked) {
		return []string{asked}
	}
	return nil
}
