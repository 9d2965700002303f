package udp

import (
	"context"
	"errors"
	"fmt"
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

// straggle is how long after a stream's end datagrams that it overtook may come.
const straggle = 200 * time.Millisecond

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
func Receive(ctx context.Context, conns []net.Conn, o measure.Options, f engine.Flow) (measure.FlowEnd, error) {
	return receive(ctx, conns, o, f, usual)
}

func receive(ctx context.Context, conns []net.Conn, o measure.Options, asked engine.Flow, l limits) (measure.FlowEnd, error) {
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
		first: sock.NewFirst(), sent: make([]int64, len(conns)), told: make([]bool, len(conns)),
	}
	if f.path == datagram.Read {
		r.workers = len(conns)
	}
	for i := range r.sent {
		r.sent[i] = unknown
	}
	if o.Omit > 0 {
		r.came.Store(math.MinInt64) // what comes in it is no part of an amount
	}
	f.group.Deadline(r.epoch.Add(f.limits.First))
	done := start(r.workers, r.read)
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

	first *sock.First // datagram of any stream

	came atomic.Int64 // bytes of all streams, where they end a kept flow

	parting sync.Once
	ended   atomic.Bool // some stream's last word came

	sent []int64 // each stream's own: what its sender says, or unknown
	told []bool  // each stream's own: whether its socket tells of drops
}

const unknown = -1

// enough ends a kept flow of an amount that has come with n bytes more.
func (r *receiver) enough(n int64) {
	if r.policy.KeepOpen && r.o.Bytes > 0 && r.came.Add(n) >= int64(r.o.Bytes) {
		r.ending.End(0)
	}
}

// awaitFirst waits for the first datagram of any stream; false when the flow ended
// or was stopped before that, and then all workers have ended.
func (r *receiver) awaitFirst(ctx context.Context, done <-chan struct{}) bool {
	if r.first.Await(ctx, r.group, done) {
		return true
	}
	if r.group.Err() == nil && !r.ending.Over() {
		r.group.Stop(r.broken("receive from", 0, errors.New("no datagram came")).WithCause(engine.ErrStalled))
	}
	return false
}

// begin notes the flow's first datagram, from which its end is known.
func (r *receiver) begin(at time.Time) {
	r.first.Note(at, func() {
		end := time.Time{}
		if r.timed() {
			end = at.Add(r.nominal() + r.grace())
		}
		r.group.Deadline(end)
		if r.ending.Over() { // just now
			r.group.Deadline(sock.Now().Add(straggle))
		}
	})
}

// over tells whether a deadline of stream that went by was its end. It was not
// when it was the one for the first datagram, which came just then on another
// stream.
func (r *receiver) over(stream int) bool {
	switch {
	case r.group.Err() != nil, !r.first.Come(), r.ending.Over(), r.sent[stream] != unknown, r.ended.Load():
		return true
	}
	return r.timed() && sock.Since(r.first.At()) >= r.nominal()
}

// judge looks at a flow whose workers have ended. The sender is gone when it
// has not said its last word and has been silent since long before the end.
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
		r.group.Stop(r.broken("receive from", 0, fmt.Errorf("nothing came any more after %v of %v", after.Round(10*time.Millisecond), r.nominal())))
	}
}

// end is the receiver's count.
func (r *receiver) end() measure.FlowEnd {
	f := r.count()
	for i := range f.Streams {
		total := r.rec.Total(i)
		p := &measure.PacketCount{
			Sent: total.Next, Received: total.Packets,
			Reordered: total.Reordered, Duplicated: total.Duplicated, JitterNs: total.JitterNs,
			Joined: total.Joined,
		}
		if r.told[i] {
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
