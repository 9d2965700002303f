package tcp

import (
	"strings"
	"sync/atomic"
	"time"

	"soku/internal/sock"
)

// lengthening gives the streams of a fast flow long send queues, once. A queue that the
// kernel sizes (net.ipv4.tcp_wmem) is no longer than the data in flight, so a sender
// fills it, sleeps, and is woken for each acknowledged piece. If the queue holds more
// than the windows allow in flight, the room that an acknowledgement makes is filled at
// once, with large packets, and senders wake seldom: with 2 to 32 streams between two
// processors of one host this carries more with less processor time. A single stream
// neither gains nor loses. All streams get their long queues at the same time: one stream
// with a long queue slows down the others.
type lengthening struct {
	streams     int64
	least, most int64 // of a queue, bytes: see [sock.LongQueues]
	total       atomic.Int64
	chosen      atomic.Int64 // length of each queue; 0 leaves it to the kernel

	// Used by the one loop that compares rates.
	since time.Time
	had   int64
}

// longest is the time in which a queue drains at the rate of the flow; the flow waits for
// it at its end.
const longest = 20 * time.Millisecond

// lengthening returns nil if the user chose the queue's size, if the flow does not wait
// at its end for what is queued, or if the kernel allows no longer queues.
func (s *sender) lengthening() *lengthening {
	if s.o.Window > 0 || s.policy.KeepOpen {
		return nil
	}
	least, most := sock.LongQueues(len(s.conns))
	if most <= least {
		return nil
	}
	return &lengthening{streams: int64(len(s.conns)), least: least, most: most}
}

const (
	// hostSegment is the least size of a segment, in bytes, that only a path within a host has:
	// the loopback interface, on which a connection begins with half of its MTU of 64 KiB.
	hostSegment = 16 << 10
	// unsentMost is how many bytes of a flow that is paced within a host wait to be sent: two full
	// segments. With one, a single stream is slower.
	unsentMost = 128 << 10
)

// pacedInHost reports whether the kernel paces the flow by the rate that it has seen, as bbr does,
// on a path within this host. There each segment waits for a timer of its own, so that one
// interruption of the host lowers the rate that bbr believes in, and with it the rate that it
// tries next. It ignores low rates if the sender had nothing to send meanwhile, so a queue that
// never runs empty keeps the rate low: long queues cost two streams between two processors a third.
func (s *sender) pacedInHost() bool {
	info, known := sock.TCPInfo(s.conns[0])
	return known && strings.HasPrefix(info.Congestion, "bbr") && info.MSS >= hostSegment
}

// sent counts n bytes of a stream and returns the new length of its queue; 0 leaves it as
// it is. compares is true for the one loop of the flow that compares rates.
func (q *lengthening) sent(n int64, at time.Time, compares bool) int64 {
	total := q.total.Add(n)
	if compares && q.chosen.Load() == 0 {
		q.compare(total, at)
	}
	return q.chosen.Load()
}

// compare chooses the length by the rate since the last call.
func (q *lengthening) compare(total int64, at time.Time) {
	past := at.Sub(q.since)
	if past < compareEvery {
		return
	}
	if !q.since.IsZero() {
		n := min(q.most, int64(float64(total-q.had)*float64(longest)/float64(past))/q.streams)
		if n > q.least {
			q.chosen.Store(n)
		}
	}
	q.since, q.had = at, total
}
