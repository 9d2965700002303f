package sock

import (
	"context"
	"errors"
	"net"
	"time"

	"soku/internal/measure"
)

// acceptRest is how long [Accept] waits after an error before it tries again.
const acceptRest = 10 * time.Millisecond

// Accept hands the connections that come to l to take, which owns each and is called
// from this goroutine, until ctx ends; then it closes l and returns nil, within 100 ms
// unless take goes on for longer. What fails for one connection alone, or for want of
// descriptors, is waited out. A listener that somebody else closed is an error of kind
// broken.
func Accept(ctx context.Context, l net.Listener, take func(net.Conn)) error {
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	for {
		c, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = c.Close()
			}
			_ = l.Close() // also where the function above has not run yet
			return nil
		case errors.Is(err, net.ErrClosed):
			return measure.Errorf(measure.KindBroken, "accept connections on %s: %w", l.Addr(), err)
		case err != nil:
			timer := time.NewTimer(acceptRest)
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
			timer.Stop()
		default:
			take(c)
		}
	}
}
