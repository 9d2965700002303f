package sock

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// First is the moment at which a flow's first data came, on whichever of its
// streams. It is safe for concurrent use.
type First struct {
	once  sync.Once
	begun atomic.Bool
	come  chan struct{} // closed when at is known
	at    time.Time
}

// NewFirst returns a First that has not come.
func NewFirst() *First { return &First{come: make(chan struct{})} }

// Come reports whether it came. It costs a load of a word.
func (f *First) Come() bool { return f.begun.Load() }

// Note makes at the moment, and calls then before anybody is told; only the
// first call does anything.
func (f *First) Note(at time.Time, then func()) {
	f.once.Do(func() {
		then()
		f.at = at
		f.begun.Store(true)
		close(f.come)
	})
}

// At is the moment; it waits until there is one.
func (f *First) At() time.Time {
	<-f.come
	return f.at
}

// Await waits until it came or done is closed, and reports whether it came.
// When ctx ends before, it stops g with the cause and waits for done.
func (f *First) Await(ctx context.Context, g *Group, done <-chan struct{}) bool {
	select {
	case <-f.come:
		return true
	case <-done:
	case <-ctx.Done():
		g.Stop(context.Cause(ctx))
		<-done
	}
	select {
	case <-f.come: // the last of the workers was the first, too
		return true
	default:
		return false
	}
}
