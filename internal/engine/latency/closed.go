package latency

import (
	"context"
	"encoding/binary"
	"errors"

	"soku/internal/engine/latency/roundtrip"
	"soku/internal/measure"
	"soku/internal/sock"
)

// closed is the closed loop: the next request is sent when the reply arrived.
func (c *client) closed(ctx context.Context) error {
	loop := c.closedDatagrams
	if c.stream {
		loop = c.closedStream
	}
	if l, ok := c.link.(looper); ok {
		loop = func(ctx context.Context) error { return l.closed(ctx, c) }
	}
	return alone(c.pins, measure.Sender, c.links(), func() error { return loop(ctx) })
}

func (c *client) closedStream(ctx context.Context) error {
	message, reply := make([]byte, c.size), make([]byte, c.size)
	for n := uint64(0); ; n++ {
		if n > 0 {
			c.next()
		}
		start := c.clock.now()
		if c.over(start) {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if c.size >= numberSize {
			binary.BigEndian.PutUint64(message, n)
		}
		c.begin(start, false)
		if err := writeAll(ctx, c.link, message); err != nil {
			return c.broken(ctx, err)
		}
		if err := readFull(ctx, c.link, reply, c.silent); err != nil {
			return c.broken(ctx, err)
		}
		now := c.clock.now()
		if c.size >= numberSize && binary.BigEndian.Uint64(reply) != n {
			return c.broken(ctx, errDisorder)
		}
		came := c.came(start, now)
		c.reply(start, came, now)
		if c.own.OneWay {
			in, out := parseTimes(reply, true)
			c.far(start, came, in, out)
		}
		if err := c.sendExtraMessage(ctx, message); err != nil {
			return c.broken(ctx, err)
		}
	}
}

// silent is called at each tick without a reply; it returns an error if the test has been
// over for longer than the timeout.
func (c *client) silent() error {
	if c.end > 0 && c.clock.now() > c.end+c.timeout {
		return errSilent
	}
	return nil
}

func (c *client) closedDatagrams(ctx context.Context) error {
	window := roundtrip.NewWindow(1024)
	message, reply := make([]byte, c.size), make([]byte, c.size+1)
	for {
		start := c.clock.now()
		if c.over(start) {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n := window.Add(start)
		header{magicRequest, c.token, n, start}.put(message)
		c.begin(start, false)
		if err := c.sendDatagram(ctx, message); err != nil {
			return c.broken(ctx, err)
		}
		if err := c.awaitReply(ctx, window, reply); err != nil {
			return c.broken(ctx, err)
		}
		c.next()
	}
}

// sendDatagram ignores errors that earlier datagrams caused.
func (c *client) sendDatagram(ctx context.Context, message []byte) error {
	err := writeAll(ctx, c.link, message)
	if err != nil && (sock.Refused(err) || sock.NoBuffers(err)) {
		return nil
	}
	return err
}

// awaitReply reads until the one outstanding request is answered or lost.
func (c *client) awaitReply(ctx context.Context, w *roundtrip.Window, buffer []byte) error {
	for {
		err := c.readDatagram(ctx, w, buffer)
		if err != nil || w.Outstanding() == 0 {
			return err
		}
	}
}

// readDatagram waits a tick for a datagram, counts expired requests as lost, and
// processes what arrived.
func (c *client) readDatagram(ctx context.Context, w *roundtrip.Window, buffer []byte) error {
	size, err := c.link.read(buffer)
	now := c.clock.now()
	switch {
	case err == nil, errors.Is(err, errTick), sock.TooLong(err):
	case sock.Refused(err):
		c.refused = true
	default:
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	lost := false
	w.Expire(now-c.timeout, func(atNs int64) { lost = true; c.miss(atNs, now) })
	if lost && c.refused {
		return errGone
	}
	if err == nil {
		c.take(w, buffer[:size], now)
	}
	return nil
}

// take processes one datagram; it ignores what is not a reply of this trial.
func (c *client) take(w *roundtrip.Window, b []byte, now int64) {
	h, ok := parseHeader(b)
	if !ok || h.magic != magicReply || h.token != c.token || len(b) != c.size {
		return
	}
	switch atNs, verdict := w.Answer(h.number); verdict {
	case roundtrip.Fresh:
		came := c.came(atNs, now)
		c.reply(atNs, came, now)
		if c.own.OneWay {
			in, out := parseTimes(b, false)
			c.far(h.atNs, came, in, out)
		}
	case roundtrip.Duplicate:
		c.duplicated++
	}
}
