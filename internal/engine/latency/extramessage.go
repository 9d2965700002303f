package latency

import (
	"context"
	"time"
)

// sendExtraMessage sends the extra message of the protocol, which is not answered, when
// the current flow has made as many round trips as its policy says, and then gives the
// far end time to compute its figures, for which the next round trip would wait.
func (c *client) sendExtraMessage(ctx context.Context, message []byte) error {
	f := c.flows[c.Turn]
	if f.sinceExtra++; c.extraEvery == 0 || f.sinceExtra < c.extraEvery {
		return nil
	}
	f.sinceExtra = 0
	if err := writeAll(ctx, c.link, message); err != nil {
		return err
	}
	t := time.NewTimer(lapPause + time.Duration(c.extraEvery)*lapPauseEach)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done(): // checked again before the next request
	}
	return nil
}

// Pause for the far end after an extra message, and in addition for each round trip:
// sorting them takes less.
const (
	lapPause     = time.Millisecond
	lapPauseEach = 500 * time.Nanosecond
)
