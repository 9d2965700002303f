package daemon

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff is how long to wait before a retry: at random up to a bound that doubles, so that the
// agents of a hub that comes back do not all ask it at one moment. It is for one goroutine.
type backoff struct {
	first, most time.Duration
	bound       time.Duration
}

// next is the wait before the next retry, at least a quarter of its bound.
func (b *backoff) next() time.Duration {
	b.bound = min(max(2*b.bound, b.first), b.most)
	return b.bound/4 + rand.N(b.bound-b.bound/4)
}

func (b *backoff) reset() { b.bound = 0 }

// wait waits for the next retry, or returns false if ctx ends before.
func (b *backoff) wait(ctx context.Context) bool { return sleep(ctx, b.next()) }

// sleep waits, and returns false if ctx ends before.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
