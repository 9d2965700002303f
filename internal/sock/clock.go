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

// Late returns how long before now, a reading of [time.Now], the stamp was taken. It is 0
// if the stamp is unknown or impossible, because the wall clock may be set at any time.
func Late(stamp, now time.Time) time.Duration {
	const longest = time.Second
	if late := now.Round(0).Sub(stamp); late > 0 && late <= longest {
		return late
	}
	return 0
}
