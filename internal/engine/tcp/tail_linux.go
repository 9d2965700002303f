package tcp

import (
	"net"
	"time"

	"soku/internal/sock"
)

// tail ends the writing on one stream of a timed flow when the kernel has enough queued to send
// until the end of the flow. What it still had to send then would take as long again as the queue
// holds, and is counted in no figure.
type tail struct {
	window time.Duration // before the end, in which it looks
	next   time.Time     // when it looks again
	first  look
	lately look // between one and two tailRate ago
	middle look // becomes lately
}

// look is how many bytes the kernel had sent at a time.
type look struct {
	at   time.Time
	sent int64
}

const (
	// tailRate is the least time over which a rate is measured, and tailEvery the time between two
	// looks.
	tailRate  = 50 * time.Millisecond
	tailEvery = 5 * time.Millisecond
)

// newTails returns the tails of streams that may end so long before the end of their flow.
func newTails(streams int, window time.Duration) []tail {
	all := make([]tail, streams)
	for i := range all {
		all[i].window = window
	}
	return all
}

// full reports whether the bytes that the kernel has not sent yet last until the end of the flow.
// written is how many the stream has written.
func (t *tail) full(c *net.TCPConn, written int64, begin, stop time.Time) bool {
	now := sock.Now()
	left := stop.Sub(now)
	if left > t.window || now.Before(t.next) {
		return false
	}
	t.next = now.Add(tailEvery)
	unsent, known := sock.NotSent(c)
	if !known {
		return false
	}
	l := look{now, written - unsent}
	t.note(l)
	return t.lasts(begin, l, unsent, left)
}

// note keeps a look for those that follow.
func (t *tail) note(l look) {
	switch {
	case t.first.at.IsZero():
		t.first, t.lately, t.middle = l, l, l
	case l.at.Sub(t.middle.at) >= tailRate:
		t.lately, t.middle = t.middle, l
	}
}

// lasts reports whether unsent bytes last for the time that is left, at the mean rate of the flow, at
// that since the first look and at that of the last moments: a flow whose rate grows, or that stood
// still a moment ago, must not run dry.
func (t *tail) lasts(begin time.Time, now look, unsent int64, left time.Duration) bool {
	if now.at.Sub(t.first.at) < tailRate || now.sent <= t.first.sent {
		return false
	}
	for _, since := range []look{{at: begin}, t.first, t.lately} {
		if !now.lasts(since, unsent, left) {
			return false
		}
	}
	return true
}

// lasts reports whether unsent bytes last for the time that is left at the rate since an earlier look.
func (l look) lasts(since look, unsent int64, left time.Duration) bool {
	return float64(unsent)*float64(l.at.Sub(since.at)) >= float64(l.sent-since.sent)*float64(left)
}
