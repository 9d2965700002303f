package tcp

import (
	"sync/atomic"
	"time"

	"soku/internal/sock"
)

// lengthening gives the streams of a fast flow long send queues, once. A queue that the
// kernel sizes (net.ipv4.tcp_wmem) is no longer than what may be on its way, so a sender
// fills it, sleeps, and is woken for each piece that is acknowledged. With more in the
// queue than the windows take, what an acknowledgement makes room for goes at once, in
// large packets, and senders are woken seldom: at 2 to 32 streams between two processors
// of one host that carries more at less of the processors' time. A single stream neither
// gains nor loses. All get theirs together: a stream that has one keeps the others slow.
type lengthening struct {
	streams     int64
	least, most int64 // of a queue, bytes: see [sock.LongQueues]
	total       atomic.Int64
	chosen      atomic.Int64 // how long a queue is to be; 0 leaves it alone

	// Of the one loop that weighs.
	since time.Time
	had   int64
}

// longest is how long a queue drains at the rate of the flow, which waits for it at the end.
const longest = 20 * time.Millisecond

// lengthening is for queues that the kernel sizes; nil where somebody chose, where what is
// queued at the end would not be waited for, and where the kernel has no longer ones.
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

// sent counts n bytes of a stream, and tells how long its queue is to be from now on; 0
// leaves it alone. weighs is true for the one loop of the flow that compares rates.
func (q *lengthening) sent(n int64, at time.Time, weighs bool) int64 {
	total := q.total.Add(n)
	if weighs && q.chosen.Load() == 0 {
		q.weigh(total, at)
	}
	return q.chosen.Load()
}

// weigh chooses by the rate since it was called last.
func (q *lengthening) weigh(total int64, at time.Time) {
	past := at.Sub(q.since)
	if past < weigh {
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
