//go:build linux && (amd64 || arm64) && !race && !plainloops

package direct

import (
	"context"
	"io"

	"soku/internal/engine/latency/requests"
	"soku/internal/engine/latency/roundtrip"
	"soku/internal/sock"
	"soku/internal/sock/longcall"
)

// AskOnSchedule is the open loop of one thread that never sleeps: it polls for replies
// until the next request is due. A second thread would compete with the echo for a
// processor if both ends are on one host.
func (l *looper) AskOnSchedule(ctx context.Context, c *requests.Counts) error {
	k := &keeper{c: c, l: l, window: roundtrip.NewWindow(c.MostOutstanding() + batchMost)}
	l.seekDevice()
	l.prepare(c.Size, false)
	l.d.done = make([]exchange, 4*batchMost)
	defer l.endWith(ctx)()
	if !c.Stream {
		requests.Header{Magic: requests.MagicRequest, Token: c.Token}.Put(l.d.out)
	}
	// Creating the thread took some milliseconds, by which requests would be late. The
	// recorder is an inline one, which has no clock.
	c.Clock.Start = sock.Now()
	k.base = longcall.Nanotime() - c.Clock.Now()
	l.d.token, l.d.zero = c.Token, k.base
	for {
		if over, err := k.slice(ctx); over || err != nil {
			return err
		}
	}
}

// keeper keeps the schedule of a spinning open loop.
type keeper struct {
	c      *requests.Counts
	l      *looper
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
	c.Rec.Tick(now - c.Omit)
	k.plan(now)
	owed := k.window.Outstanding()
	done := k.ended && d.batch == 0 && d.phase == phaseIdle
	if done && owed == 0 {
		return true, nil
	}
	// Over UDP outstanding requests expire.
	if stuck := done || k.full() || d.phase == phaseSend; c.Stream && owed > 0 && stuck && now > k.lastNs+c.Timeout {
		return true, requests.ErrSilent
	}
	if c.End > 0 && d.batch > 0 && !k.out {
		d.tick = min(d.tick, k.base+c.End)
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
	return int64(k.l.d.batch)+k.window.Outstanding() >= int64(k.c.MostOutstanding())
}

// plan fills the batch with the next due requests, and ends it when the test is over.
func (k *keeper) plan(now int64) {
	c, d := k.c, k.l.d
	leaving := 0
	if d.phase == phaseSend {
		leaving = 1 // a partly sent message must be completed
	}
	if d.batch > leaving && c.RanOut(d.due[leaving]-k.base, now) {
		d.batch, k.ended, k.out = leaving, true, true
	}
	if k.full() {
		return
	}
	for d.batch < batchMost && !k.ended {
		if c.Count > 0 && k.drawn >= c.Count {
			k.ended = true
			break
		}
		at := c.NextDue()
		if c.End > 0 && at >= c.End {
			k.ended = true
			break
		}
		if at >= c.Omit {
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
		c.Leave(at, left)
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
	if !c.Stream {
		k.window.Expire(now-c.Timeout, func(atNs int64) { lost = true; c.Miss(atNs, now) })
	}
	switch {
	case lost && c.Refused:
		return requests.ErrGone
	case d.outcome == outcomeEnd:
		return io.EOF
	case d.outcome == outcomeFailed && !c.Stream && sock.Refused(d.errno):
		c.Refused = true
	case d.outcome == outcomeFailed:
		return d.errno
	}
	return nil
}

func (k *keeper) reply(r exchange) error {
	c := k.c
	if c.Stream && r.number != k.next {
		return requests.ErrDisorder
	}
	k.next++
	at, verdict := k.window.Answer(r.number)
	switch {
	case verdict == roundtrip.Fresh:
		came := r.read
		if r.came != 0 && r.came < r.read && r.came-k.base > at {
			came = r.came
		}
		c.Reply(at, came-k.base, r.read-k.base)
	case c.Stream:
		return requests.ErrUninvited
	case verdict == roundtrip.Duplicate:
		c.Duplicated++
	}
	return nil
}
