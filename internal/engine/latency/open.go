package latency

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"sync/atomic"

	"soku/internal/engine/latency/direct"
	"soku/internal/engine/latency/requests"
	"soku/internal/engine/latency/roundtrip"
	"soku/internal/measure"
)

// schedule is the state that the sender and the receiver of an open loop share.
type schedule struct {
	window *roundtrip.Window
	stop   atomic.Bool  // receiver to sender: send no more
	lastNs atomic.Int64 // sender to receiver: when the last request was sent; -1 while it sends
	err    error        // sender's; read after done
	done   chan struct{}
}

// open sends on a schedule, independent of replies.
func (c *client) open(ctx context.Context) error {
	if l, ok := c.link.(direct.Looper); ok && l.Busy() {
		return alone(c.pins, measure.Sender, c.links(), func() error { return c.broken(ctx, l.AskOnSchedule(ctx, &c.Counts)) })
	}
	return c.openThreads(ctx)
}

// openThreads is the open loop of two threads that sleep while nothing is due. The
// receiver is the caller's goroutine.
func (c *client) openThreads(ctx context.Context) error {
	s := &schedule{window: roundtrip.NewWindow(c.MostOutstanding()), done: make(chan struct{})}
	s.lastNs.Store(-1)
	go func() {
		defer close(s.done)
		runtime.LockOSThread() // for the pacer, also over the net poller
		defer runtime.UnlockOSThread()
		defer c.pins.Keep(measure.Sender)()
		s.err = c.sendOnSchedule(ctx, s)
		s.lastNs.Store(c.Clock.Now())
	}()
	err := alone(c.pins, measure.Sender, c.links(), func() error { return c.receive(ctx, s) })
	s.stop.Store(true)
	<-s.done
	if err == nil {
		err = s.err
	}
	if err != nil {
		return c.broken(ctx, err)
	}
	return nil
}

func (c *client) sendOnSchedule(ctx context.Context, s *schedule) error {
	message := make([]byte, c.Size)
	p := newPacer(c.Clock)
	defer p.release()
	for {
		at := c.NextDue()
		if c.Over(at) {
			return nil
		}
		now, err := p.until(ctx, s, at)
		if err != nil || s.stop.Load() {
			return err
		}
		if c.RanOut(at, now) {
			return nil
		}
		c.Leave(at, now)
		if err := c.request(ctx, s, message, at); err != nil {
			return err
		}
	}
}

func (c *client) request(ctx context.Context, s *schedule, message []byte, at int64) error {
	n := s.window.Add(at)
	if !c.Stream {
		requests.Header{Magic: requests.MagicRequest, Token: c.Token, Number: n, AtNs: at}.Put(message)
		return c.sendDatagram(ctx, message)
	}
	if c.Size >= requests.NumberSize {
		binary.BigEndian.PutUint64(message, n)
	}
	return writeAll(ctx, c.link, message)
}

// receive matches replies until the sender has finished and no request is outstanding.
func (c *client) receive(ctx context.Context, s *schedule) error {
	step := c.readDatagram
	buffer := make([]byte, c.Size+1)
	if c.Stream {
		r := &replies{}
		step = func(ctx context.Context, w *roundtrip.Window, b []byte) error { return c.readStream(ctx, w, r, b, s) }
		buffer = make([]byte, max(c.Size, maxMessage))
	}
	for {
		if s.lastNs.Load() >= 0 && s.window.Outstanding() == 0 {
			return nil
		}
		if err := step(ctx, s.window, buffer); err != nil {
			return err
		}
	}
}

// replies is the receiver's position in a stream.
type replies struct {
	have int    // bytes of an incomplete reply
	next uint64 // number of the request it answers
	last int64  // ns, when something came last
}

// readStream reads what the stream has. All replies of one read have the same arrival
// time.
func (c *client) readStream(ctx context.Context, w *roundtrip.Window, r *replies, b []byte, s *schedule) error {
	n, err := c.link.Read(b[r.have:])
	now := c.Clock.Now()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, direct.ErrTick):
		// Replies may come for longer than the timeout, if requests were sent faster than
		// they are answered.
		if last := s.lastNs.Load(); last >= 0 && now > max(last, r.last)+c.Timeout {
			return requests.ErrSilent
		}
		return nil
	case errors.Is(err, io.EOF) && s.lastNs.Load() >= 0 && s.err != nil:
		return s.err // the sender's error explains why the far end closed
	case err != nil:
		return err
	}
	r.last = now
	rest := b[:r.have+n]
	for ; len(rest) >= c.Size; rest = rest[c.Size:] {
		if c.Size >= requests.NumberSize && binary.BigEndian.Uint64(rest) != r.next {
			return requests.ErrDisorder
		}
		at, verdict := w.Answer(r.next)
		if verdict != roundtrip.Fresh {
			return requests.ErrUninvited
		}
		r.next++
		came := c.came(at, now)
		c.Reply(at, came, now)
	}
	r.have = copy(b, rest)
	return nil
}
