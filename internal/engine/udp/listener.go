package udp

import (
	"math"
	"time"

	"soku/internal/sock"
	"soku/internal/sock/datagram"
	"soku/internal/sock/meter"
)

// listener is the state of one stream in its receiving worker.
type listener struct {
	*receiver
	stream   int
	in       *datagram.Inlet
	cell     *meter.Cell
	headers  headerReader
	sequence sequence
	jitter   jitter
	count    meter.Count
	closed   bool

	// drops counts from the creation of the socket: datagrams dropped before the flow
	// began are missing, too. It is nil if the system does not report drops.
	drops  *datagram.Drops
	known  uint32    // drops so far
	asked  time.Time // when drops was last read
	trains joining
}

// joining is how many datagrams arrived in how many messages.
type joining struct{ datagrams, messages int64 }

// in estimates how many datagrams n messages hold, at the mean so far.
func (j joining) in(n int64) int64 {
	if j.messages == 0 {
		return n
	}
	return int64(math.Round(float64(n) * float64(j.datagrams) / float64(j.messages)))
}

func (r *receiver) listen(stream int, box *datagram.Receiver) (*listener, error) {
	in, err := box.Open(r.conns[stream])
	if err != nil {
		return nil, err
	}
	l := &listener{receiver: r, stream: stream, in: in, cell: r.rec.Cell(stream), drops: datagram.DropsOf(r.conns[stream])}
	r.reported[stream] = l.drops != nil
	return l, nil
}

// complete reports whether every datagram that was sent has arrived.
func (l *listener) complete() bool {
	return l.sent[l.stream] != unknown && l.sequence.unique >= l.sent[l.stream]
}

// take counts the datagrams of a message that the program received at now, and returns
// their number. The kernel's arrival time replaces now, if there is one.
func (l *listener) take(t datagram.Train, now time.Time) (n int) {
	at := now
	if !t.Arrived.IsZero() {
		at = now.Add(-sock.Late(t.Arrived, now))
	}
	arrivedNs := int64(at.Sub(l.epoch))
	counted, before := false, l.count.Bytes
	for b, length, ok := t.Next(); ok; b, length, ok = t.Next() {
		n++
		h, ok := l.parse(b)
		if !ok {
			continue
		}
		if h.fin {
			l.fin(h, at)
			continue
		}
		switch l.sequence.add(h.seq) {
		case foreign:
			continue
		case inOrder, late:
			l.jitter.add(h.sentNs, arrivedNs)
			l.count.Bytes += int64(length)
			l.count.Last = at
			if t.Joined {
				l.count.Joined++
				n += l.follow(&t, h)
			}
		}
		counted = true
	}
	if counted {
		l.trains.datagrams += int64(n)
		l.trains.messages++
		if !l.first.Come() {
			l.begin(at)
		}
	}
	if came := l.count.Bytes - before; came > 0 {
		l.enough(came)
	}
	return n
}

// follow counts those of a train's next datagrams that follow h without a gap, and
// returns their number.
func (l *listener) follow(t *datagram.Train, h header) int {
	if l.policy.Datagrams != nil || h.seq+1 != uint64(l.sequence.next) {
		return 0
	}
	b, size := t.Rest()
	n := l.headers.following(h, b, size)
	t.Skip(n)
	l.sequence.follow(n)
	l.jitter.repeat(n)
	l.count.Bytes += int64(n) * int64(size)
	l.count.Joined += int64(n)
	return n
}

func (l *listener) parse(b []byte) (h header, ok bool) {
	if f := l.policy.Datagrams; f != nil {
		h.seq, h.sentNs, h.fin, ok = f.Parse(b)
		return h, ok
	}
	return l.headers.parse(b)
}

// dropsEvery is how often the kernel's drop counter is read.
const dropsEvery = 50 * time.Millisecond

// publish publishes the count so far.
func (l *listener) publish(now time.Time) {
	if now.Sub(l.asked) >= dropsEvery {
		l.askDrops(now)
	}
	q := &l.sequence
	l.count.Packets, l.count.Gaps, l.count.Next = q.unique, q.gaps, q.next
	l.count.Reordered, l.count.Duplicated, l.count.JitterNs = q.reordered, q.duplicated, l.jitter.ns
	l.cell.Publish(l.count)
}

// askDrops reads how many datagrams were dropped at a full socket. The kernel counts
// messages: a train that it joined counts as one, and is taken to be as long as those
// that arrived.
func (l *listener) askDrops(now time.Time) {
	l.asked = now
	if l.drops == nil {
		return
	}
	n, ok := l.drops.Count()
	if dropped := n - l.known; ok && dropped > 0 { // correct across a wrap, too
		l.count.Dropped += l.trains.in(int64(dropped))
		l.known = n
	}
}

// end publishes the final count.
func (l *listener) end(now time.Time) {
	l.closed = true
	l.in.Done()
	l.askDrops(now)
	l.publish(now)
}

// fin processes the sender's FIN: how many datagrams the stream had.
func (l *listener) fin(h header, at time.Time) {
	if l.sent[l.stream] != unknown || h.seq < uint64(l.sequence.next) || h.seq > uint64(l.sequence.next)+farthest {
		return
	}
	l.begin(at)
	if !l.timed() {
		// All streams end together, so the FINs of the others are due.
		l.parting.Do(func() { l.ended.Store(true); l.expiry.Set(sock.Now().Add(l.grace())) })
	}
	l.sent[l.stream] = int64(h.seq)
	l.group.DeadlineOf(l.stream, sock.Now().Add(reorderWait))
}
