package filecopy

import (
	"sync/atomic"

	"soku/internal/panics"
)

// flushing hands pieces of a file that is still being written to the system to flush, one at a
// time. The call blocks while the queue of the device is full, so it has a goroutine of its own
// and the writer goes on. One goroutine uses it.
type flushing struct {
	busy  atomic.Bool
	calls panics.Group
}

// begin makes the call. It returns false, and does nothing, while the one before lasts.
func (l *flushing) begin(call func()) bool {
	if !l.busy.CompareAndSwap(false, true) {
		return false
	}
	l.calls.Go(func() {
		defer l.busy.Store(false)
		call()
	})
	return true
}

// wait returns when no call uses a file any more.
func (l *flushing) wait() { l.calls.Wait() }
