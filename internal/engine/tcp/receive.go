package tcp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"sync/atomic"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/meter"
)

// Receive reads all of conns, one a stream, to their ends. In time mode it
// stops at most a bounded time (0.5 to 2 s) after o.Omit+o.Duration since the
// first byte. o must be effective.
//
// Errors: ctx's cause when it ended; kind broken when no first byte came
// within 10 s, a stream ended long before its time or was reset, or fewer
// than o.Bytes came; kind usage or permission when a socket option was refused.
// The FlowEnd always holds what was counted. Receive returns within 100 ms of
// ctx's end.
func Receive(ctx context.Context, conns []*net.TCPConn, o measure.Options, f engine.Flow) (measure.FlowEnd, error) {
	return receive(ctx, conns, o, f, usual)
}

func receive(ctx context.Context, conns []*net.TCPConn, o measure.Options, asked engine.Flow, l limits) (measure.FlowEnd, error) {
	f, err := newFlow(conns, o, measure.Receiver, asked, l)
	defer f.ending.Stop()
	if err != nil {
		return f.rec.Flow(), err
	}
	r := &receiver{flow: f, called: sock.Now(), first: sock.NewFirst(), complete: make([]bool, len(conns))}
	if o.Omit > 0 {
		r.came.Store(math.MinInt64) // what comes in it is no part of an amount
	}
	work, n, err := r.workers()
	if err != nil {
		return f.rec.Flow(), err
	}
	r.until(r.called.Add(f.limits.First))
	done := start(n, work)
	if !r.awaitFirst(ctx, done) {
		f.watch()
		f.rec.End()
		return f.end(ctx)
	}
	f.run(ctx, meter.Window{From: r.first.At(), Omit: o.Omit.Std(), Idle: f.idle(measure.Receiver), Begun: func() { r.came.Store(0) }}, done)
	r.finish()
	return f.end(ctx)
}

// receiver is what all workers of one end share.
type receiver struct {
	*flow
	called time.Time
	last   atomic.Int64 // when to give up, ns since called; 0 never

	first *sock.First // byte of any stream

	complete []bool // each stream's own: its end was read

	came atomic.Int64 // bytes of all streams, where they end a kept flow
}

// lastBytes is how long what is queued may take to read when the protocol says that
// the flow is over.
const lastBytes = 100 * time.Millisecond

// enough tells, of a kept flow of an amount, whether it came with n bytes more.
func (r *receiver) enough(n int) bool {
	if !r.policy.KeepOpen || r.o.Bytes <= 0 || r.came.Add(int64(n)) < int64(r.o.Bytes) {
		return false
	}
	r.ending.End(0)
	return true
}

// awaitFirst waits for the first byte of any stream; false when the flow ended
// or was stopped before that, and then all workers have ended.
func (r *receiver) awaitFirst(ctx context.Context, done <-chan struct{}) bool {
	if r.first.Await(ctx, r.group, done) {
		return true
	}
	if r.group.Err() == nil && !r.ending.Over() {
		r.group.Stop(r.broken("receive from", 0, errors.New("no data came")).WithCause(engine.ErrStalled))
	}
	return false
}

// over tells whether a deadline that went by was the end. It was not when it
// was the one for the first byte, which came just then on another stream.
func (r *receiver) over() bool {
	if r.group.Err() != nil || !r.first.Come() || r.ending.Over() {
		return true
	}
	return r.timed() && sock.Since(r.first.At()) >= r.nominal()
}

// until is when workers that wait give up; the zero time is never.
func (r *receiver) until(t time.Time) {
	ns := int64(0)
	if !t.IsZero() {
		ns = int64(t.Sub(r.called))
	}
	r.last.Store(ns)
	r.group.Deadline(t)
}

// late tells whether that time has gone by.
func (r *receiver) late() bool {
	last := r.last.Load()
	return last > 0 && int64(sock.Since(r.called)) >= last
}

// begin notes the flow's first byte, from which its end is known.
func (r *receiver) begin(at time.Time) {
	r.first.Note(at, func() {
		end := time.Time{}
		if r.timed() {
			end = at.Add(r.nominal() + r.drain())
		}
		r.until(end)
		if r.ending.Over() { // just now
			r.group.Deadline(sock.Now().Add(lastBytes))
		}
	})
}

// ended notes that stream was read to its end, and tells the sender so.
func (r *receiver) ended(stream int) {
	r.complete[stream] = true
	if r.policy.KeepOpen {
		return
	}
	_ = r.conns[stream].CloseWrite()
	from := r.called
	if r.first.Come() {
		from = r.first.At()
	}
	if after := sock.Since(from); r.early(after) {
		r.group.Stop(r.broken("receive from", stream, fmt.Errorf("the sender stopped after %v of %v",
			after.Round(10*time.Millisecond), r.nominal())))
	}
}

// early tells whether an end so long after the first byte is too soon for a
// sender in good order. The first byte may have been up to a second late: a
// first segment that is lost is sent again only then (RFC 6298).
func (r *receiver) early(after time.Duration) bool {
	return r.timed() && after < r.nominal()-r.haste()
}

// finish judges a flow whose workers have ended, and resets the streams that
// were not read to their ends.
func (r *receiver) finish() {
	if r.policy.KeepOpen {
		return
	}
	var total int64
	var last time.Time
	all := true
	for i := range r.conns {
		n := r.rec.Raw(i)
		total += n.Bytes
		if n.Last.After(last) {
			last = n.Last
		}
		all = all && r.complete[i]
	}
	switch {
	case !r.timed() && total < int64(r.o.Bytes):
		r.group.Stop(r.broken("receive from", 0, fmt.Errorf("all streams ended after %d of %d bytes", total, r.o.Bytes)))
	case !all && r.early(last.Sub(r.first.At())+r.lull()):
		r.group.Stop(r.broken("receive from", 0, fmt.Errorf("nothing came any more after %v of %v",
			last.Sub(r.first.At()).Round(10*time.Millisecond), r.nominal())))
	}
	for i, c := range r.conns {
		if !r.complete[i] {
			sock.Abort(c)
		}
	}
}
