package tcp

import (
	"time"

	"soku/internal/sock"
)

// nap tells a loop that drops bytes when it may sleep although something came. A look
// that brought crumbs will be followed by others that do; a nap lets them add up, and
// leaves the processor to senders on the same host. But where windows are small next to
// the rate, senders would stand still meanwhile: 64 KiB carry 115 Gbit/s over loopback
// without a nap and 7 with one.
type nap struct {
	since time.Time
	had   []int64 // bytes of each stream by then
	room  bool    // the window of every stream takes what comes in a nap twice
}

const (
	// crumbs are less than a look should bring.
	crumbs = 1 << 20
	// weigh is how often rates and windows are compared; windows grow.
	weigh = 10 * time.Millisecond
)

// after tells whether to sleep after a look that brought n bytes. in has the windows of
// the loop's streams, as they are numbered there.
func (p *nap) after(n int64, l *loop, in interface{ Room(k int) int64 }) bool {
	now := sock.Now()
	if past := now.Sub(p.since); past >= weigh {
		p.room = p.had != nil && p.fits(l, in, past)
		p.since = now
		p.had = p.had[:0]
		for _, c := range l.counts {
			p.had = append(p.had, c.Bytes)
		}
	}
	return p.room && n < crumbs
}

// fits tells whether no stream stands still for a nap, at its rate of the time that is past.
func (p *nap) fits(l *loop, in interface{ Room(k int) int64 }, past time.Duration) bool {
	for k, c := range l.counts {
		inNap := float64(c.Bytes-p.had[k]) * float64(doze) / float64(past)
		if !l.done[k] && 2*inNap > float64(in.Room(k)) {
			return false
		}
	}
	return true
}
