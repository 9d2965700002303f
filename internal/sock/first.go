package sock

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// First is the time at which the first data of a flow arrived, on any of its streams. It
// is safe for concurrent use.
type First struct {
	once  sync.Once
	begun atomic.Bool
	come  chan struct{} // closed when at is known
	at    time.Time
}

// NewFirst returns a First without a time.
func NewFirst() *First { return &First{come: make(chan struct{})} }

// Come reports whether the first data arrived. It costs one atomic load.
func (f *First) Come() bool { return f.begun.Load() }

// Note records the time at of the first data. It calls then before Await and At return.
// Only the first call has an effect.
func (f *First) Note(at time.Time, then func()) {
	f.once.Do(func() {
		then()
		f.at = at
		f.begun.Store(true)
		close(f.come)
	})
}

// At returns the time, and waits until there is one.
func (f *First) At() time.Time {
	<-f.come
	return f.at
}

// Await waits until the first data arrived or done is closed, and reports whether data
// arrived. If ctx ends first, Await stops g with the cause and waits for done.
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
	case <-f.come: // done and first data at the same time
		return true
	default:
		return false
	}
}
