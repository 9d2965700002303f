package latency

import (
	"sync/atomic"

	"soku/internal/sock"
)

// loops counts the spinning loops of this process, and echoes those that answer. Each needs
// a processor of its own, or it waits for the time slices of the others.
var loops, echoes atomic.Int64

// autoProcessors is the number of processors from which an end spins by default: most of
// the machine stays free.
const autoProcessors = 4

// maySpin reserves one of the places for spinning loops, if the option asks for it and
// there is one. leave releases it.
func maySpin(option string) (ok bool, leave func()) {
	most := int64(0)
	switch option {
	case "on":
		most = int64(max(sock.Processors, 2)) // both ends on one host need two
	case "auto":
		if n := sock.Processors; n >= autoProcessors {
			most = int64(n / autoProcessors)
		}
	}
	if loops.Add(1) > most {
		loops.Add(-1)
		return false, func() {}
	}
	return true, func() { loops.Add(-1) }
}

// mayEchoSpin is maySpin for an echo. It spins because another host asks for it, so that all
// echoes together get half of the processors, at least one.
func mayEchoSpin(option string) (ok bool, leave func()) {
	ok, place := maySpin(option)
	if !ok {
		return false, place
	}
	if most := max(1, int64(sock.Processors/2)); echoes.Add(1) > most {
		echoes.Add(-1)
		place()
		return false, func() {}
	}
	return true, func() { echoes.Add(-1); place() }
}
