package tcp

import (
	"time"

	"soku/internal/sock"
)

// coalescer decides when a loop that discards bytes sleeps although data arrived. After a
// pass that moved little, the next ones would move little, too; a sleep lets data
// accumulate, and leaves the processor to senders on the same host. But if windows are
// small for the rate, senders would stall meanwhile: windows of 64 KiB carry 115 Gbit/s
// over loopback without such sleeps and 7 with them.
type coalescer struct {
	since time.Time
	had   []int64 // bytes of each stream at since
	room  bool    // every stream's window holds twice what arrives during a sleep
}

const (
	// A pass should move at least smallPass bytes.
	smallPass = 1 << 20
	// compareEvery is how often rates and windows are compared, because windows grow.
	compareEvery = 10 * time.Millisecond
)

// after reports whether to sleep after a pass that moved n bytes. in has the windows of
// the loop's streams, by their index in the loop.
func (p *coalescer) after(n int64, l *loop, in interface{ Room(k int) int64 }) bool {
	now := sock.Now()
	if past := now.Sub(p.since); past >= compareEvery {
		p.room = p.had != nil && p.fits(l, in, past)
		p.since = now
		p.had = p.had[:0]
		for _, c := range l.counts {
			p.had = append(p.had, c.Bytes)
		}
	}
	return p.room && n < smallPass
}

// fits reports whether no stream stalls during a sleep, at its rate over the time past.
func (p *coalescer) fits(l *loop, in interface{ Room(k int) int64 }, past time.Duration) bool {
	for k, c := range l.counts {
		inSleep := float64(c.Bytes-p.had[k]) * float64(fixedSleep) / float64(past)
		if !l.done[k] && 2*inSleep > float64(in.Room(k)) {
			return false
		}
	}
	return true
}
