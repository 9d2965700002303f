package latency

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"runtime"
	"sync/atomic"

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
	if c.link.busy() {
		return c.openSpinning(ctx)
	}
	return c.openThreads(ctx)
}

// openThreads is the open loop of two threads that sleep while nothing is due. The
// receiver is the caller's goroutine.
func (c *client) openThreads(ctx context.Context) error {
	s := &schedule{window: roundtrip.NewWindow(c.outstanding()), done: make(chan struct{})}
	s.lastNs.Store(-1)
	go func() {
		defer close(s.done)
		runtime.LockOSThread() // for the pacer, also over the net poller
		defer runtime.UnlockOSThread()
		defer c.pins.Keep(measure.Sender)()
		s.err = c.sendOnSchedule(ctx, s)
		s.lastNs.Store(c.clock.now())
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

// outstanding returns how many requests can wait concurrently: those of one timeout, and a
// quarter more for a sender that catches up.
func (c *client) outstanding() int {
	n := 1.25*float64(c.timeout)/c.gap + 1024
	return int(min(n, roundtrip.MaxWindow))
}

func (c *client) sendOnSchedule(ctx context.Context, s *schedule) error {
	message := make([]byte, c.size)
	p := newPacer(c.clock)
	defer p.release()
	for {
		at := c.arrivals.next()
		if c.over(at) {
			return nil
		}
		now, err := p.until(ctx, s, at)
		if err != nil || s.stop.Load() {
			return err
		}
		if c.ranOut(at, now) {
			return nil
		}
		c.leave(at, now)
		if err := c.request(ctx, s, message, at); err != nil {
			return err
		}
	}
}

// ranOut reports whether the test ended while the sender was late: requests that were due
// by then count as late.
func (c *client) ranOut(atNs, nowNs int64) bool {
	if c.end == 0 || nowNs < c.end {
		return false
	}
	c.late += int64(math.Ceil((float64(c.end) - float64(atNs)) / c.gap))
	return true
}

// leave counts a request that was due at atNs and is sent at nowNs.
func (c *client) leave(atNs, nowNs int64) {
	c.begin(atNs, false)
	if atNs >= c.omit {
		c.arrivals.left(atNs, nowNs)
		c.lastDue, c.lastSent = atNs-c.omit, nowNs-c.omit
		if float64(nowNs-atNs) > c.gap {
			c.late++
		}
	}
}

func (c *client) request(ctx context.Context, s *schedule, message []byte, at int64) error {
	n := s.window.Add(at)
	if !c.stream {
		header{magicRequest, c.token, n, at}.put(message)
		return c.sendDatagram(ctx, message)
	}
	if c.size >= numberSize {
		binary.BigEndian.PutUint64(message, n)
	}
	return writeAll(ctx, c.link, message)
}

// receive matches replies until the sender has finished and no request is outstanding.
func (c *client) receive(ctx context.Context, s *schedule) error {
	step := c.readDatagram
	buffer := make([]byte, c.size+1)
	if c.stream {
		r := &replies{}
		step = func(ctx context.Context, w *roundtrip.Window, b []byte) error { return c.readStream(ctx, w, r, b, s) }
		buffer = make([]byte, max(c.size, maxMessage))
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
	n, err := c.link.read(b[r.have:])
	now := c.clock.now()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errTick):
		// Replies may come for longer than the timeout, if requests were sent faster than
		// they are answered.
		if last := s.lastNs.Load(); last >= 0 && now > max(last, r.last)+c.timeout {
			return errSilent
		}
		return nil
	case errors.Is(err, io.EOF) && s.lastNs.Load() >= 0 && s.err != nil:
		return s.err // the sender's error explains why the far end closed
	case err != nil:
		return err
	}
	r.last = now
	rest := b[:r.have+n]
	for ; len(rest) >= c.size; rest = rest[c.size:] {
		if c.size >= numberSize && binary.BigEndian.Uint64(rest) != r.next {
			return errDisorder
		}
		at, verdict := w.Answer(r.next)
		if verdict != roundtrip.Fresh {
			return errUninvited
		}
		r.next++
		came := c.came(at, now)
		c.reply(at, came, now)
	}
	r.have = copy(b, rest)
	return nil
}
