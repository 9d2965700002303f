package pace

import "time"

// Waiter waits for the next unit of a schedule. It is for one goroutine and does not
// allocate after [NewWaiter].
type Waiter struct {
	timer *time.Timer
	stop  <-chan struct{}
}

// NewWaiter returns a Waiter whose waits end early once stop is closed.
func NewWaiter(stop <-chan struct{}) *Waiter {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &Waiter{timer: t, stop: stop}
}

// Wait waits for d on the runtime's timers, which on an idle host are up to about 1 ms
// late. It returns false once stop is closed.
func (w *Waiter) Wait(d time.Duration) bool {
	w.timer.Reset(d)
	select {
	case <-w.stop:
		w.timer.Stop()
		return false
	case <-w.timer.C:
		return true
	}
}

// fine is the longest wait by [Sleep], which stop cannot interrupt.
const fine = 2 * time.Millisecond

// WaitFine is [Waiter.Wait] with the precision of the system's own sleep, about 0.1 ms. A
// long wait ends early; the caller then asks its schedule again.
func (w *Waiter) WaitFine(d time.Duration) bool {
	if d > fine {
		return w.Wait(d - fine/2)
	}
	select {
	case <-w.stop:
		return false
	default:
		Sleep(d)
		return true
	}
}

// Balance waits for d, which is what a [Budget] asks for, but not after stop unless that is
// zero. It returns false once the waiter's own stop is closed, or after stop.
func (w *Waiter) Balance(d time.Duration, stop time.Time) bool {
	if d <= 0 {
		return true
	}
	if !stop.IsZero() {
		left := time.Until(stop)
		if left <= d {
			w.Wait(max(left, 0))
			return false
		}
	}
	return w.Wait(d)
}
