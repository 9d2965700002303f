package bulk

import (
	"errors"
	"runtime"
	"sync"

	"soku/internal/measure"
	"soku/internal/sock"
)

// onHands runs work on so many threads, each kept where pins say, and waits for all.
// Of n sockets each has every hands-th, those in its list.
func onHands(pins *sock.Pins, role measure.Role, hands, n int, work func(sockets []int) error) error {
	errs := make([]error, hands)
	var all sync.WaitGroup
	for h := range hands {
		var sockets []int
		for i := h; i < n; i += hands {
			sockets = append(sockets, i)
		}
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
