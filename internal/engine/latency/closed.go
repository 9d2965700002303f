package latency

import (
	"context"
	"encoding/binary"
	"errors"

	"soku/internal/engine/latency/direct"
	"soku/internal/engine/latency/requests"
	"soku/internal/engine/latency/roundtrip"
	"soku/internal/measure"
	"soku/internal/sock"
)

// closed is the closed loop: the next request is sent when the reply arrived.
func (c *client) closed(ctx context.Context) error {
	loop := c.closedDatagrams
	if c.Stream {
		loop = c.closedStream
	}
	if l, ok := c.link.(direct.Looper); ok {
		loop = func(ctx context.Context) error { return c.broken(ctx, l.Ask(ctx, &c.Counts, c.links())) }
	}
	return alone(c.pins, measure.Sender, c.links(), func() error { return loop(ctx) })
}

func (c *client) closedStream(ctx context.Context) error {
	message, reply := make([]byte, c.Size), make([]byte, c.Size)
	for n := uint64(0); ; n++ {
		if n > 0 {
			c.next()
		}
		start := c.Clock.Now()
		if c.Over(start) {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if c.Size >= requests.NumberSize {
			binary.BigEndian.PutUint64(message, n)
		}
		c.Begin(start, false)
		if err := writeAll(ctx, c.link, message); err != nil {
			return c.broken(ctx, err)
		}
		if err := readFull(ctx, c.link, reply, c.Silent); err != nil {
			return c.broken(ctx, err)
		}
		now := c.Clock.Now()
		if c.Size >= requests.NumberSize && binary.BigEndian.Uint64(reply) != n {
			return c.broken(ctx, requests.ErrDisorder)
		}
		came := c.came(start, now)
		c.Reply(start, came, now)
		if c.OneWay {
			in, out := requests.ParseTimes(reply, true)
			c.Far(start, came, in, out)
		}
		if err := c.sendExtraMessage(ctx, message); err != nil {
			return c.broken(ctx, err)
		}
	}
}

func (c *client) closedDatagrams(ctx context.Context) error {
	window := roundtrip.NewWindow(1024)
	message, reply := make([]byte, c.Size), make([]byte, c.Size+1)
	for {
		start := c.Clock.Now()
		if c.Over(start) {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n := window.Add(start)
		requests.Header{Magic: requests.MagicRequest, Token: c.Token, Number: n, AtNs: start}.Put(message)
		c.Begin(start, false)
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
	size, err := c.link.Read(buffer)
	now := c.Clock.Now()
	switch {
	case err == nil, errors.Is(err, direct.ErrTick), sock.TooLong(err):
	case sock.Refused(err):
		c.Refused = true
	default:
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	lost := false
	w.Expire(now-c.Timeout, func(atNs int64) { lost = true; c.Miss(atNs, now) })
	if lost && c.Refused {
		return requests.ErrGone
	}
	if err == nil {
		c.take(w, buffer[:size], now)
	}
	return nil
}

// take processes one datagram; it ignores what is not a reply of this trial.
func (c *client) take(w *roundtrip.Window, b []byte, now int64) {
	h, ok := requests.ParseHeader(b)
	if !ok || h.Magic != requests.MagicReply || h.Token != c.Token || len(b) != c.Size {
		return
	}
	switch atNs, verdict := w.Answer(h.Number); verdict {
	case roundtrip.Fresh:
		came := c.came(atNs, now)
		c.Reply(atNs, came, now)
		if c.OneWay {
			in, out := requests.ParseTimes(b, false)
			c.Far(h.AtNs, came, in, out)
		}
	case roundtrip.Duplicate:
		c.Duplicated++
	}
}
