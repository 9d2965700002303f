package sock

import (
	"context"
	"time"
)

// Pause waits for d, and returns false if ctx ends first.
func Pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
