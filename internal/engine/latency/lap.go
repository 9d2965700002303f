package latency

import (
	"context"
	"time"
)

// endLap sends the message that nobody answers when the flow whose turn it is has
// done as many round trips as the protocol wants, and leaves the far end the time to
// work out its own figures, which the next round trip would wait for.
func (c *client) endLap(ctx context.Context, message []byte) error {
	f := c.flows[c.turn]
	if f.laps++; c.lap == 0 || f.laps < c.lap {
		return nil
	}
	f.laps = 0
	if err := writeAll(ctx, c.link, message); err != nil {
		return err
	}
	t := time.NewTimer(lapPause + time.Duration(c.lap)*lapPauseEach)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done(): // seen before the next request
	}
	return nil
}

// What the far end is given after a lap, and for each of its round trips: to sort
// them takes less.
const (
	lapPause     = time.Millisecond
	lapPauseEach = 500 * time.Nanosecond
)
