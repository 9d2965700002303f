package latency

import (
	"context"
	"errors"
	"io"
	"net"

	"soku/internal/measure"
)

// Echo answers each message that comes over conn with one of the same size,
// until the far end is done or ctx ends; neither is an error. o is effective and
// the same as at the end that asks. It leaves conn open.
//
// Over UDP it answers only requests of [Run], each with exactly as many bytes
// as came, and ends at Run's end mark; those may all be lost, so the caller bounds
// ctx. A connection that breaks is an error of [measure.KindBroken]; the end of
// ctx is noticed within 100 ms.
func Echo(ctx context.Context, conn net.Conn, o measure.Options) error {
	return echo(ctx, conn, o, openLink)
}

func echo(ctx context.Context, conn net.Conn, o measure.Options, open linker) error {
	if o.Size < 1 || o.Size > maxMessage {
		return measure.Errorf(measure.KindUsage, "latency messages of %d bytes cannot be", o.Size).WithHint("use 1 to %d", maxMessage)
	}
	setNoDelay(conn)
	l := open(conn, maxTick, threadsEcho)
	defer l.release()
	defer pin(l)()
	answer := echoDatagrams
	if isStream(conn) {
		answer = echoStream
	}
	if err := answer(ctx, l, int(o.Size)); err != nil && ctx.Err() == nil {
		return measure.Errorf(measure.KindBroken, "answer latency messages of %s: %w", conn.RemoteAddr(), err).
			WithHint("see whether the client was stopped or a firewall cut the flow")
	}
	return nil
}

func echoStream(ctx context.Context, l link, size int) error {
	message := make([]byte, size)
	for {
		err := readFull(ctx, l, message, func() error { return nil })
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = writeAll(ctx, l, message)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

func echoDatagrams(ctx context.Context, l link, size int) error {
	buffer := make([]byte, max(size, headerSize)+1)
	var token uint64
	for ctx.Err() == nil {
		n, err := l.read(buffer)
		if err != nil {
			if errors.Is(err, errTick) || refused(err) || cut(err) {
				continue
			}
			return err
		}
		h, ok := parseHeader(buffer[:n])
		switch {
		case !ok || n > size:
		case h.magic == magicRequest:
			token = h.token
			h.magic = magicReply
			h.put(buffer)
			if err := writeAll(ctx, l, buffer[:n]); err != nil && !refused(err) && !noBuffer(err) && !errors.Is(err, context.Cause(ctx)) {
				return err
			}
		case h.magic == magicEnd && h.token == token:
			return nil
		}
	}
	return nil
}
