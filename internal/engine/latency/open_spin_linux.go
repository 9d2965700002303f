//go:build linux && (amd64 || arm64) && !race && !plainloops

package latency

import (
	"context"
	"io"

	"soku/internal/engine/latency/roundtrip"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/longcall"
)

// openSpinning is the open loop of one thread that never sleeps: it polls for replies
// until the next request is due. A second thread would compete with the echo for a
// processor if both ends are on one host.
func (c *client) openSpinning(ctx context.Context) error {
	l, ok := c.link.(*directLink)
	if !ok {
		return c.openThreads(ctx)
	}
	return alone(c.pins, measure.Sender, c.links(), func() error { return c.keepSchedule(ctx, l) })
}

func (c *client) keepSchedule(ctx context.Context, l *directLink) error {
	k := &keeper{c: c, l: l, window: roundtrip.NewWindow(c.outstanding() + batchMost)}
	l.seekDevice()
	l.prepare(c.size, false)
	l.d.done = make([]exchange, 4*batchMost)
	defer l.endWith(ctx)()
	if !c.stream {
		header{magic: magicRequest, token: c.token}.put(l.d.out)
	}
	// Creating the thread took some milliseconds, by which requests would be late. The
	// recorder is an inline one, which has no clock.
	c.clock.start = sock.Now()
	k.base = longcall.Nanotime() - c.clock.now()
	l.d.token, l.d.zero = c.token, k.base
	for over := false; !over; {
		var err error
		if over, err = k.slice(ctx); err != nil {
			return c.broken(ctx, err)
		}
	}
	return nil
}

// keeper keeps the schedule of a spinning open loop.
type keeper struct {
	c      *client
	l      *directLink
	base   int64 // the trial's start, longcall.Nanotime
	window *roundtrip.Window
	drawn  int64 // planned requests in the measured part
	ended  bool  // no more requests are planned
	out    bool  // the test ended before all planned requests were sent
	lastNs int64 // when the last request was sent, or a reply came
	next   uint64
}

// slice sends and reads for a while and counts the results.
func (k *keeper) slice(ctx context.Context) (over bool, err error) {
	c, d := k.c, k.l.d
	now := k.l.slice() - k.base
	if err := endOf(ctx); err != nil {
		return true, err
	}
	c.rec.Tick(now - c.omit)
	k.plan(now)
	owed := k.window.Outstanding()
	done := k.ended && d.batch == 0 && d.phase == phaseIdle
	if done && owed == 0 {
		return true, nil
	}
	// Over UDP outstanding requests expire.
	if stuck := done || k.full() || d.phase == phaseSend; c.stream && owed > 0 && stuck && now > k.lastNs+c.timeout {
		return true, errSilent
	}
	if c.end > 0 && d.batch > 0 && !k.out {
		d.tick = min(d.tick, k.base+c.end)
	}
	d.most = len(d.done)
	if d.batch == 0 {
		d.most = 1
	}
	err = k.l.raw.Control(k.l.keeping)
	if fileErr := k.file(); err == nil {
		err = fileErr
	}
	return false, err
}

// full reports whether no more requests can be outstanding.
func (k *keeper) full() bool {
	return int64(k.l.d.batch)+k.window.Outstanding() >= int64(k.c.outstanding())
}

// plan fills the batch with the next due requests, and ends it when the test is over.
func (k *keeper) plan(now int64) {
	c, d := k.c, k.l.d
	leaving := 0
	if d.phase == phaseSend {
		leaving = 1 // a partly sent message must be completed
	}
	if d.batch > leaving && c.ranOut(d.due[leaving]-k.base, now) {
		d.batch, k.ended, k.out = leaving, true, true
	}
	if k.full() {
		return
	}
	for d.batch < batchMost && !k.ended {
		if c.count > 0 && k.drawn >= c.count {
			k.ended = true
			break
		}
		at := c.arrivals.next()
		if c.end > 0 && at >= c.end {
			k.ended = true
			break
		}
		if at >= c.omit {
			k.drawn++
		}
		d.due[d.batch] = k.base + at
		d.batch++
	}
}

// file counts sent requests and replies. An error ends the trial.
func (k *keeper) file() error {
	c, d := k.c, k.l.d
	for i := range d.next {
		at := d.due[i] - k.base
		left := d.left[i] - k.base
		k.lastNs = max(k.lastNs, left)
		k.window.Add(at)
		c.leave(at, left)
	}
	copy(d.due[:], d.due[d.next:d.batch])
	d.left[0] = d.left[min(d.next, batchMost-1)] // of the one being sent
	d.batch, d.next = d.batch-d.next, 0
	for _, r := range d.done[:d.n] {
		k.lastNs = max(k.lastNs, r.read-k.base)
		if err := k.reply(r); err != nil {
			return err
		}
	}
	d.n = 0
	now := longcall.Nanotime() - k.base
	lost := false
	if !c.stream {
		k.window.Expire(now-c.timeout, func(atNs int64) { lost = true; c.miss(atNs, now) })
	}
	switch {
	case lost && c.refused:
		return errGone
	case d.outcome == outcomeEnd:
		return io.EOF
	case d.outcome == outcomeFailed && !c.stream && sock.Refused(d.errno):
		c.refused = true
	case d.outcome == outcomeFailed:
		return d.errno
	}
	return nil
}

func (k *keeper) reply(r exchange) error {
	c := k.c
	if c.stream && r.number != k.next {
		return errDisorder
	}
	k.next++
	at, verdict := k.window.Answer(r.number)
	switch {
	case verdict == roundtrip.Fresh:
		came := r.read
		if r.came != 0 && r.came < r.read && r.came-k.base > at {
			came = r.came
		}
		c.reply(at, came-k.base, r.read-k.base)
	case c.stream:
		return errUninvited
	case verdict == roundtrip.Duplicate:
		c.duplicated++
	}
	return nil
}
