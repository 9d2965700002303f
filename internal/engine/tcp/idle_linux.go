package tcp

import (
	"runtime"
	"time"

	"soku/internal/sock"
)

// idler makes the waits of a loop long while nothing moves, so that many quiet flows cost
// little: a wait then ends with data, with whatever ends the flow, or after [idleMost].
type idler struct {
	quiet   int // waits in which nothing moved
	parking *sock.Parking
}

const (
	// idleAfter is how many waits without data make a flow quiet.
	idleAfter = 10
	// Each wait costs a wake-up, which many quiet flows multiply. What ends a flow ends the wait,
	// so that it may be long.
	idleMost = 10 * time.Second
	// tickMost is idleMost where nothing can end the wait early.
	tickMost = 80 * time.Millisecond
)

// moved notes whether the last pass moved something.
func (i *idler) moved(some bool) {
	if i.quiet++; some {
		i.quiet = 0
	}
}

// long reports whether to wait for long; the first time it returns false once more, so that
// the loop looks again at what ends it when the group reports that from then on.
func (i *idler) long(g *sock.Group) bool {
	if i.quiet < idleAfter {
		return false
	}
	if i.parking == nil {
		i.parking = sock.NewParking()
		g.OnChange(i.parking.Wake)
		return false
	}
	return true
}

// most is how long such a wait may be.
func (i *idler) most() time.Duration {
	if i.parking.Works() {
		return idleMost
	}
	return tickMost
}

// wait waits, without the thread of the loop unless that is pinned.
func (i *idler) wait(pins *sock.Pins, wait func()) {
	if pins == nil {
		runtime.UnlockOSThread()
		defer runtime.LockOSThread()
	}
	wait()
}

func (i *idler) close() {
	if i.parking != nil {
		i.parking.Close()
	}
}
