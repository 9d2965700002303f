package latency

import (
	"context"
	"net"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
)

// Laps measures laps of round trips over a TCP connection until ctx ends: after so
// many, one message goes that nobody answers, done gets how long each took, and rest
// is called with when the lap began, to wait until the next. done may sort what it
// gets, but not keep it. An error is of [measure.KindBroken] when the far end went
// away, or the cause of ctx.
func Laps(ctx context.Context, conn *net.TCPConn, size, rounds int, done func([]time.Duration), rest func(began time.Time)) error {
	o := measure.Options{Size: measure.Size(size), Timeout: measure.Duration(time.Second), Count: 1}
	c, err := newClient([]net.Conn{conn}, o)
	if err != nil {
		return err
	}
	c.attach(openShared)
	defer c.release()
	message, reply := make([]byte, size), make([]byte, size)
	all := make([]time.Duration, rounds)
	for {
		lap := sock.Now()
		for i := range all {
			began := sock.Now()
			if err := writeAll(ctx, c.link, message); err != nil {
				return c.broken(ctx, err)
			}
			if err := readFull(ctx, c.link, reply, func() error { return nil }); err != nil {
				return c.broken(ctx, err)
			}
			all[i] = sock.Since(began)
			c.received++
		}
		if err := writeAll(ctx, c.link, message); err != nil {
			return c.broken(ctx, err)
		}
		done(all)
		if rest(lap); ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}
