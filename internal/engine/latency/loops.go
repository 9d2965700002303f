package latency

import (
	"sync/atomic"

	"soku/internal/sock"
)

// loops counts the loops of this process that spin. Each needs a processor of
// its own, or it waits for the others' time slices.
var loops atomic.Int64

// autoProcessors is from how many processors on an end spins by itself: it
// leaves most of the machine alone.
const autoProcessors = 4

// maySpin takes one of the places for loops that spin, if the option asks for
// it and there is one. leave gives it back.
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
