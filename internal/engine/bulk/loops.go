package bulk

import (
	"errors"
	"runtime"
	"sync"

	"soku/internal/measure"
	"soku/internal/sock"
)

// runLoops runs work on this many threads, pinned as pins say, and waits for all. The n
// sockets are dealt to the loops in turn; work gets the indices of its own.
func runLoops(pins *sock.Pins, role measure.Role, loops, n int, work func(sockets []int) error) error {
	errs := make([]error, loops)
	var all sync.WaitGroup
	for h, sockets := range sock.Deal(n, loops) {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			defer pins.Keep(role)()
			errs[h] = work(sockets)
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
