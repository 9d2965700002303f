package udp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/meter"
)

const (
	// straggle is how long after a stream's end datagrams that it overtook may come.
	straggle = 200 * time.Millisecond
	// queue is the receive buffer that is asked for when the options ask for
	// none: the usual default holds a millisecond of 1 Gbit/s, and what a
	// short pause of this process lost would look like loss of the path.
	queue = 4 << 20
	// largest is more than any datagram.
	largest = 1 << 16
)

// Receive counts the datagrams that come over conns, one a stream, until each
// stream's sender says how many there were; in time mode at most a bounded
// time (0.5 to 2 s) after o.Omit+o.Duration since the first. A stream whose
// sender's last word is lost counts as sent up to the highest number seen.
// Bytes and packets count without duplicates. o must be effective.
//
// Errors: ctx's cause when it ended; kind broken when nothing came within 10 s
// of the call, or nothing any more long before the end; kind usage or
// permission when a socket option was refused. The FlowEnd always holds what
// was counted. Receive returns within 100 ms of ctx's end.
func Receive(ctx context.Context, conns []net.Conn, o measure.Options, dir measure.Direction, obs measure.Observer) (measure.FlowEnd, error) {
	return receive(ctx, conns, o, dir, obs, usual)
}

func receive(ctx context.Context, conns []net.Conn, o measure.Options, dir measure.Direction, obs measure.Observer, l limits) (measure.FlowEnd, error) {
	f, err := newFlow(conns, o, dir, measure.Receiver, obs, l)
	if err != nil {
		return f.rec.Flow(), err
	}
	if o.Window == 0 {
		for _, c := range conns {
			if b, ok := c.(interface{ SetReadBuffer(int) error }); ok {
				_ = b.SetReadBuffer(queue) // as far as the system allows
			}
		}
	}
	r := &receiver{flow: f, epoch: sock.Now(), first: sock.NewFirst(), sent: make([]int64, len(conns))}
	for i := range r.sent {
		r.sent[i] = unknown
	}
	f.group.Deadline(r.epoch.Add(l.first))
	done := start(len(conns), r.read)
	if !r.awaitFirst(ctx, done) {
		f.rec.End()
		return r.end(), f.failure(ctx)
	}
	w := meter.Window{From: r.first.At(), Omit: o.Omit.Std()}
	if !f.timed() {
		w.Idle = l.idle + f.lull()
	}
	f.run(ctx, w, done)
	r.judge()
	return r.end(), f.failure(ctx)
}

type receiver struct {
	*flow
	epoch time.Time

	first *sock.First // datagram of any stream

	ending sync.Once
	ended  atomic.Bool // some stream's last word came

	sent []int64 // each stream's own: what its sender says, or unknown
}

const unknown = -1

// awaitFirst waits for the first datagram of any stream; false when the flow ended
// or was stopped before that, and then all workers have ended.
func (r *receiver) awaitFirst(ctx context.Context, done <-chan struct{}) bool {
	if r.first.Await(ctx, r.group, done) {
		return true
	}
	if r.group.Err() == nil {
		r.group.Stop(r.broken("receive from", 0, errors.New("no datagram came")))
	}
	return false
}

// read is the worker of one stream.
func (r *receiver) read(stream int) {
	l := &listener{receiver: r, stream: stream, cell: r.rec.Cell(stream)}
	get := sock.ReceivePath(r.conns[stream])
	buf := make([]byte, largest)
	for !l.complete() {
		n, err := get(buf)
		now := sock.Now()
		switch {
		case err == nil:
			if h, ok := parseHeader(buf[:n]); ok {
				l.take(h, n, now)
			}
		case sock.Refused(err): // an answer to what was sent here before the trial
		case !errors.Is(err, os.ErrDeadlineExceeded):
			r.group.Stop(r.broken("receive from", stream, err))
			return
		case r.over(stream):
			return
		}
	}
}

// listener is one stream as its worker sees it.
type listener struct {
	*receiver
	stream   int
	cell     *meter.Cell
	sequence sequence
	jitter   jitter
	count    meter.Count
}

// complete tells whether every datagram that was sent has come.
func (l *listener) complete() bool {
	return l.sent[l.stream] != unknown && l.sequence.unique >= l.sent[l.stream]
}

// take counts a datagram of n bytes.
func (l *listener) take(h header, n int, now time.Time) {
	if h.fin {
		l.lastWord(h, now)
		return
	}
	what := l.sequence.add(h.seq)
	if what == foreign {
		return
	}
	if what != duplicate {
		l.jitter.add(h.sentNs, int64(now.Sub(l.epoch)))
		l.count.Bytes += int64(n)
		l.count.Last = now
	}
	q := &l.sequence
	l.count.Packets, l.count.Gaps, l.count.Next = q.unique, q.gaps, q.next
	l.count.Reordered, l.count.Duplicated, l.count.JitterNs = q.reordered, q.duplicated, l.jitter.ns
	l.cell.Publish(l.count)
	if !l.first.Come() {
		l.begin(now)
	}
}

// lastWord takes the sender's word of how many datagrams the stream had.
func (l *listener) lastWord(h header, now time.Time) {
	if l.sent[l.stream] != unknown || h.seq < uint64(l.sequence.next) || h.seq > uint64(l.sequence.next)+farthest {
		return
	}
	l.begin(now)
	if !l.timed() {
		// All streams end together, so the others' last words are due.
		l.ending.Do(func() { l.ended.Store(true); l.group.Deadline(now.Add(l.grace())) })
	}
	l.sent[l.stream] = int64(h.seq)
	l.group.DeadlineOf(l.stream, now.Add(straggle))
}

// begin notes the flow's first datagram, from which its end is known.
func (r *receiver) begin(at time.Time) {
	r.first.Note(at, func() {
		end := time.Time{}
		if r.timed() {
			end = at.Add(r.nominal() + r.grace())
		}
		r.group.Deadline(end)
	})
}

// over tells whether a deadline of stream that went by was its end. It was not
// when it was the one for the first datagram, which came just then on another
// stream.
func (r *receiver) over(stream int) bool {
	switch {
	case r.group.Err() != nil, !r.first.Come(), r.sent[stream] != unknown, r.ended.Load():
		return true
	}
	return r.timed() && sock.Since(r.first.At()) >= r.nominal()
}

// judge looks at a flow whose workers have ended. The sender is gone when it
// has not said its last word and has been silent since long before the end.
func (r *receiver) judge() {
	var last time.Time
	for i := range r.conns {
		if r.sent[i] != unknown {
			return
		}
		if at := r.rec.Raw(i).Last; at.After(last) {
			last = at
		}
	}
	after := last.Sub(r.first.At())
	if r.timed() && after+r.lull() < r.nominal()-min(time.Second, r.nominal()/2) {
		r.group.Stop(r.broken("receive from", 0, fmt.Errorf("nothing came any more after %v of %v", after.Round(10*time.Millisecond), r.nominal())))
	}
}

// end is the receiver's count.
func (r *receiver) end() measure.FlowEnd {
	f := r.rec.Flow()
	for i := range f.Streams {
		total := r.rec.Total(i)
		p := &measure.PacketCount{
			Sent: total.Next, Received: total.Packets,
			Reordered: total.Reordered, Duplicated: total.Duplicated, JitterNs: total.JitterNs,
		}
		if r.sent[i] != unknown && r.rec.Begun() {
			omitted := r.rec.Raw(i).Next - total.Next
			p.Sent = r.sent[i] - omitted
		}
		p.Lost = max(0, p.Sent-p.Received)
		f.Streams[i].Packets = p
	}
	return f
}
