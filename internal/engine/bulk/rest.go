package bulk

import (
	"context"
	"time"
)

// rest waits for d, or for the end of ctx.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
