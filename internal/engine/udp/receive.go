package udp

import (
	"context"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/datagram"
	"soku/internal/sock/meter"
)

// reorderWait is how long after a stream's FIN reordered datagrams may still arrive.
const reorderWait = 200 * time.Millisecond

// Receive counts the datagrams that arrive on conns, one a stream, until each stream's
// sender reports how many there were; in time mode at most a bounded time (0.5 to 2 s)
// after o.Omit+o.Duration since the first. If the FIN of a stream is lost, its sent
// datagrams are inferred from the highest number seen. Bytes and packets count without
// duplicates. o must be effective.
//
// Errors: ctx's cause if it ended; kind broken if nothing arrived within 10 s of the
// call, or nothing more long before the end; kind usage or permission if a socket option
// was refused. The FlowEnd always holds what was counted. Receive returns within 100 ms
// of ctx's end.
func Receive(ctx context.Context, conns []net.Conn, o measure.Options, f engine.Flow) (measure.FlowEnd, error) {
	return receive(ctx, conns, o, f, usual)
}

func receive(ctx context.Context, conns []net.Conn, o measure.Options, asked engine.Flow, l limits) (measure.FlowEnd, error) {
	if asked.Policy.PeerEnds {
		o.Bytes = 0
	}
	f, err := newFlow(conns, o, measure.Receiver, asked, l)
	defer f.ending.Stop()
	if err != nil {
		return f.count(), err
	}
	defer f.take()()
	if o.Window == 0 {
		for _, c := range conns {
			sock.RaiseQueue(c)
		}
	}
	r := &receiver{
		flow: f, workers: min(len(conns), sock.Processors), epoch: sock.Now(),
		expiry: sock.NewExpiry(f.group), first: sock.NewFirst(), sent: make([]int64, len(conns)), reported: make([]bool, len(conns)),
	}
	if f.path == datagram.Read {
		r.workers = len(conns)
	}
	for i := range r.sent {
		r.sent[i] = unknown
	}
	if o.Omit > 0 {
		r.came.Store(math.MinInt64) // bytes of the omitted start do not count towards o.Bytes
	}
	began := f.policy.Start.Await(ctx, f.group)
	r.expiry.Set(sock.Now().Add(f.limits.First))
	if !began.IsZero() {
		r.begin(began)
	}
	done := f.start(r.workers, r.read)
	if !r.awaitFirst(ctx, done) {
		f.rec.End()
		return r.end(), f.failure(ctx)
	}
	f.run(ctx, meter.Window{From: r.first.At(), Omit: o.Omit.Std(), Idle: f.idle(measure.Receiver), Begun: func() { r.came.Store(0) }}, done)
	r.judge()
	return r.end(), f.failure(ctx)
}

type receiver struct {
	*flow
	workers int
	epoch   time.Time

	expiry *sock.Expiry
	first  *sock.First // first datagram of any stream

	came atomic.Int64 // bytes of all streams, if o.Bytes ends the flow and connections stay open

	parting sync.Once
	ended   atomic.Bool // the FIN of some stream arrived

	sent     []int64 // one element a stream: the sender's number of datagrams, or unknown
	reported []bool  // one element a stream: whether its socket reports drops
}

const unknown = -1

// enough adds n bytes and ends the flow if o.Bytes have arrived, if that ends it and
// connections stay open.
func (r *receiver) enough(n int64) {
	if r.policy.KeepOpen && r.o.Bytes > 0 && r.came.Add(n) >= int64(r.o.Bytes) {
		r.ending.End(0)
	}
}

// awaitFirst waits for the first datagram of any stream. It returns false if the flow ended or was
// stopped first, after all workers have ended.
func (r *receiver) awaitFirst(ctx context.Context, done <-chan struct{}) bool {
	if r.first.Await(ctx, r.group, done) {
		return true
	}
	if r.group.Err() == nil && !r.ending.Over() {
		r.group.Stop(engine.FailStream(r.conns, 0, "udp.no_datagram", nil).WithCause(engine.ErrStalled))
	}
	return false
}

// begin records when the flow began, which determines its end.
func (r *receiver) begin(at time.Time) {
	r.first.Note(at, func() {
		end := time.Time{}
		if r.timed() {
			end = at.Add(r.nominal() + r.grace())
		}
		r.expiry.Set(end)
	})
}

// over reports whether an expired deadline of stream was the end of the flow. It was not
// if it was the deadline of the first datagram, which has just arrived on another stream.
func (r *receiver) over(stream int) bool {
	switch {
	case r.group.Err() != nil, !r.first.Come(), r.ending.Over(), r.sent[stream] != unknown, r.ended.Load():
		return true
	}
	return r.timed() && sock.Since(r.first.At()) >= r.nominal()
}

// judge checks a flow whose workers have ended. The sender has failed if it sent no FIN
// and was silent since long before the end.
func (r *receiver) judge() {
	if r.policy.KeepOpen {
		return
	}
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
		r.group.Stop(engine.FailStream(r.conns, 0, "udp.no_more_datagrams", measure.Figures{
			"after_ns": after, "duration_ns": r.nominal(),
		}))
	}
}

// end returns the receiver's count.
func (r *receiver) end() measure.FlowEnd {
	f := r.count()
	for i := range f.Streams {
		total := r.rec.Total(i)
		p := &measure.PacketCount{
			Sent: total.Next, Received: total.Packets,
			Reordered: total.Reordered, Duplicated: total.Duplicated, JitterNs: total.JitterNs,
			Joined: total.Joined,
		}
		if r.reported[i] {
			p.SocketDrops = &total.Dropped
		}
		if r.rec.Begun() {
			p.Omitted = r.rec.Raw(i).Next - total.Next
		}
		if r.sent[i] != unknown && r.rec.Begun() {
			p.Sent = r.sent[i] - p.Omitted
		}
		p.Lost = max(0, p.Sent-p.Received)
		f.Streams[i].Packets = p
	}
	return f
}
