package sock

import (
	"context"
	"errors"
	"net"
	"time"

	"soku/internal/measure"
)

// acceptRest is the pause of [Accept] after an error, before it tries again.
const acceptRest = 10 * time.Millisecond

// Accept passes each connection that l accepts to take, which then owns it. It calls take
// from the calling goroutine. When ctx ends, Accept closes l and returns nil within 100
// ms, unless take itself takes longer. After an error that concerns one connection only,
// or too many open descriptors, it tries again. If other code closes l, Accept returns an
// error of kind broken.
func Accept(ctx context.Context, l net.Listener, take func(net.Conn)) error {
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	for {
		c, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = c.Close()
			}
			_ = l.Close() // the function above may not have run yet
			return nil
		case errors.Is(err, net.ErrClosed):
			return measure.Fail(measure.KindBroken, "sock.accept", measure.Figures{"address": l.Addr().String(), "cause": err})
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
