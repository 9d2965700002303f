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
	since  time.Time     // when it looked first
	had    int64         // bytes that the kernel had sent by then
}

const (
	// tailWindow is the longest such window, and at most half of the flow.
	tailWindow = 2 * time.Second
	// tailRate is the time over which the rate is measured before it is used, and tailEvery the
	// time between two looks.
	tailRate  = 50 * time.Millisecond
	tailEvery = 5 * time.Millisecond
)

func newTails(streams int, nominal time.Duration) []tail {
	all := make([]tail, streams)
	for i := range all {
		all[i].window = min(tailWindow, nominal/2)
	}
	return all
}

// full reports whether the bytes that the kernel has not sent yet last until the end of the flow.
// written is how many the stream has written.
func (t *tail) full(c *net.TCPConn, written int64, stop time.Time) bool {
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
	if t.since.IsZero() {
		t.since, t.had = now, written-unsent
	}
	return t.lasts(now, written-unsent, unsent, left)
}

// lasts reports whether unsent bytes last for the time that is left, at the rate since the first look.
func (t *tail) lasts(now time.Time, sent, unsent int64, left time.Duration) bool {
	past := now.Sub(t.since)
	return past >= tailRate && sent > t.had && float64(unsent)*float64(past) >= float64(sent-t.had)*float64(left)
}
