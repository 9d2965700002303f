package latency

import (
	"context"
	"net"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
)

// Batches measures batches of round trips over a TCP connection until ctx ends. After
// rounds round trips it sends one message that is not answered, calls done with the time
// of each, and calls rest with the beginning of the batch, to wait until the next. done
// may sort its argument, but must not keep it. An error is of [measure.KindBroken] if the
// far end closed the connection, or the cause of ctx.
func Batches(ctx context.Context, conn *net.TCPConn, size, rounds int, done func([]time.Duration), rest func(began time.Time)) error {
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
		batch := sock.Now()
		for i := range all {
			began := sock.Now()
			if err := writeAll(ctx, c.link, message); err != nil {
				return c.broken(ctx, err)
			}
			if err := readFull(ctx, c.link, reply, func() error { return nil }); err != nil {
				return c.broken(ctx, err)
			}
			all[i] = sock.Since(began)
			c.Received++
		}
		if err := writeAll(ctx, c.link, message); err != nil {
			return c.broken(ctx, err)
		}
		done(all)
		if rest(batch); ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}
