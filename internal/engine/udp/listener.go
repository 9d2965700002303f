package udp

import (
	"time"

	"soku/internal/sock"
	"soku/internal/sock/datagram"
	"soku/internal/sock/meter"
)

// listener is one stream as its worker sees it.
type listener struct {
	*receiver
	stream   int
	in       *datagram.Inlet
	cell     *meter.Cell
	sequence sequence
	jitter   jitter
	count    meter.Count
	closed   bool

	// drops counts from when the socket was made: what came early and found no
	// room is missing, too. It is nil where the system does not tell.
	drops *datagram.Drops
	known uint32    // drops so far
	asked time.Time // for drops
}

func (r *receiver) listen(stream int, box *datagram.Receiver) (*listener, error) {
	in, err := box.Open(r.conns[stream])
	if err != nil {
		return nil, err
	}
	l := &listener{receiver: r, stream: stream, in: in, cell: r.rec.Cell(stream), drops: datagram.DropsOf(r.conns[stream])}
	r.told[stream] = l.drops != nil
	return l, nil
}

// complete tells whether every datagram that was sent has come.
func (l *listener) complete() bool {
	return l.sent[l.stream] != unknown && l.sequence.unique >= l.sent[l.stream]
}

// take counts a datagram, which the program got at now. Where the kernel says
// when it came, that is its time.
func (l *listener) take(d datagram.Datagram, now time.Time) {
	h, ok := parseHeader(d.Bytes)
	if !ok {
		return
	}
	at := now
	if !d.Arrived.IsZero() {
		at = now.Add(-sock.Late(d.Arrived, now))
	}
	if h.fin {
		l.lastWord(h, at)
		return
	}
	what := l.sequence.add(h.seq)
	if what == foreign {
		return
	}
	if what != duplicate {
		l.jitter.add(h.sentNs, int64(at.Sub(l.epoch)))
		l.count.Bytes += int64(d.Length)
		l.count.Last = at
		if d.Joined {
			l.count.Joined++
		}
	}
	if !l.first.Come() {
		l.begin(at)
	}
}

// dropsEvery is how often the kernel is asked for its drops.
const dropsEvery = 50 * time.Millisecond

// publish shows what was counted so far.
func (l *listener) publish(now time.Time) {
	if now.Sub(l.asked) >= dropsEvery {
		l.askDrops(now)
	}
	q := &l.sequence
	l.count.Packets, l.count.Gaps, l.count.Next = q.unique, q.gaps, q.next
	l.count.Reordered, l.count.Duplicated, l.count.JitterNs = q.reordered, q.duplicated, l.jitter.ns
	l.cell.Publish(l.count)
}

func (l *listener) askDrops(now time.Time) {
	l.asked = now
	if l.drops == nil {
		return
	}
	if n, ok := l.drops.Count(); ok {
		l.count.Dropped += int64(n - l.known) // right across a wrap, too
		l.known = n
	}
}

// end publishes for the last time.
func (l *listener) end(now time.Time) {
	l.closed = true
	l.in.Done()
	l.askDrops(now)
	l.publish(now)
}

// lastWord takes the sender's word of how many datagrams the stream had.
func (l *listener) lastWord(h header, at time.Time) {
	if l.sent[l.stream] != unknown || h.seq < uint64(l.sequence.next) || h.seq > uint64(l.sequence.next)+farthest {
		return
	}
	l.begin(at)
	if !l.timed() {
		// All streams end together, so the others' last words are due.
		l.ending.Do(func() { l.ended.Store(true); l.group.Deadline(sock.Now().Add(l.grace())) })
	}
	l.sent[l.stream] = int64(h.seq)
	l.group.DeadlineOf(l.stream, sock.Now().Add(straggle))
}
