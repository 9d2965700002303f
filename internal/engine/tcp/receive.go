package tcp

import (
	"context"
	"math"
	"net"
	"sync/atomic"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/meter"
)

// Receive reads each of conns, one a stream, to its end. In time mode it stops at most a
// bounded time (0.5 to 2 s) after o.Omit+o.Duration, counted from the first byte. o must
// be effective.
//
// Errors: ctx's cause if it ended; kind broken if no byte arrived within 10 s, a stream was
// reset or ended long before the others, or fewer than o.Bytes arrived; kind usage or
// permission if a socket option was refused. The FlowEnd always holds what was counted.
// Receive returns within 100 ms of ctx's end.
//
// In time mode all streams may end early without an error: a receiver that was held up before
// its first read cannot tell that from a sender that stopped. Compare the bytes with the sender's.
func Receive(ctx context.Context, conns []*net.TCPConn, o measure.Options, f engine.Flow) (measure.FlowEnd, error) {
	return receive(ctx, conns, o, f, usual)
}

func receive(ctx context.Context, conns []*net.TCPConn, o measure.Options, asked engine.Flow, l limits) (measure.FlowEnd, error) {
	if asked.Policy.PeerEnds {
		o.Bytes = 0
	}
	f, err := newFlow(conns, o, measure.Receiver, asked, l)
	defer f.ending.Stop()
	if err != nil {
		return f.rec.Flow(), err
	}
	r := &receiver{flow: f, expiry: sock.NewExpiry(f.group), first: sock.NewFirst(), complete: make([]bool, len(conns))}
	if o.Omit > 0 {
		r.arrived.Store(math.MinInt64) // bytes of the omitted start do not count towards o.Bytes
	}
	work, n, err := r.workers()
	if err != nil {
		return f.rec.Flow(), err
	}
	began := f.policy.Start.Await(ctx, f.group)
	r.expiry.Set(sock.Now().Add(f.limits.First))
	if !began.IsZero() {
		r.begin(began)
	}
	done := f.start(n, work)
	if !r.awaitFirst(ctx, done) {
		f.watch()
		f.rec.End()
		return f.end(ctx)
	}
	f.run(ctx, meter.Window{From: r.first.At(), Omit: o.Omit.Std(), Idle: f.idle(measure.Receiver), Begun: func() { r.arrived.Store(0) }}, done)
	r.finish()
	return f.end(ctx)
}

// receiver is the state that all workers of a flow share.
type receiver struct {
	*flow
	expiry *sock.Expiry
	first  *sock.First // byte of any stream

	complete []bool       // one element a stream: its end was read
	cut      atomic.Int64 // 1 + the first stream that ended early, or 0 if none did

	further atomic.Int64 // loops to which others gave streams

	arrived atomic.Int64 // bytes of all streams, if o.Bytes ends the flow and connections stay open
}

// lastBytes is how long a receiver reads what is queued after the protocol ended the
// flow.
const lastBytes = 100 * time.Millisecond

// enough adds n bytes and reports whether o.Bytes has arrived, if that ends the flow and
// connections stay open.
func (r *receiver) enough(n int) bool {
	if !r.policy.KeepOpen || r.o.Bytes <= 0 || r.arrived.Add(int64(n)) < int64(r.o.Bytes) {
		return false
	}
	r.ending.End(0)
	return true
}

// awaitFirst waits for the first byte of any stream. It returns false if the flow ended or
// was stopped first, after all workers have ended.
func (r *receiver) awaitFirst(ctx context.Context, done <-chan struct{}) bool {
	if r.first.Await(ctx, r.group, done) {
		return true
	}
	if r.group.Err() == nil && !r.ending.Over() {
		r.group.Stop(engine.FailStream(r.conns, 0, "tcp.no_data", nil).WithCause(engine.ErrStalled))
	}
	return false
}

// over reports whether an expired deadline was the end of the flow. It was not if it was
// the deadline of the first byte, which has just arrived on another stream.
func (r *receiver) over() bool {
	if r.group.Err() != nil || !r.first.Come() || r.ending.Over() {
		return true
	}
	return r.expiry.Passed(sock.Now())
}

// begin records when the flow began, which determines its end.
func (r *receiver) begin(at time.Time) {
	r.first.Note(at, func() {
		end := time.Time{}
		if r.timed() {
			end = at.Add(r.nominal() + r.drain())
		}
		r.expiry.Set(end)
	})
}

// ended records that stream was read to its end, and shuts down this side so that the
// sender knows.
func (r *receiver) ended(stream int) {
	r.complete[stream] = true
	if r.policy.KeepOpen {
		return
	}
	_ = r.conns[stream].CloseWrite()
	// A sender ends its streams within earlyMargin of each other, and then they take at most the time to drain.
	if r.first.Come() && r.early(sock.Since(r.first.At())) && r.cut.CompareAndSwap(0, int64(stream)+1) {
		r.expiry.Set(sock.Now().Add(r.drain()))
	}
}

// early reports whether an end this long after the first byte comes before the time of a
// sender whose first byte was not delayed. It may have been up to 1 s late: a lost first
// segment is retransmitted only then (RFC 6298).
func (r *receiver) early(after time.Duration) bool {
	return r.timed() && after < r.nominal()-r.earlyMargin()
}

// finish checks a flow whose workers have ended, and resets the streams that were not
// read to their ends.
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
		r.group.Stop(engine.FailStream(r.conns, 0, "tcp.incomplete", measure.Figures{
			"received_bytes": total, "expected_bytes": r.o.Bytes,
		}))
	case !all && r.cut.Load() > 0:
		r.group.Stop(engine.FailStream(r.conns, int(r.cut.Load())-1, "tcp.sender_stopped", measure.Figures{
			"after_ns": last.Sub(r.first.At()), "duration_ns": r.nominal(),
		}))
	case !all && r.early(last.Sub(r.first.At())+r.lull()):
		r.group.Stop(engine.FailStream(r.conns, 0, "tcp.no_more_data", measure.Figures{
			"after_ns": last.Sub(r.first.At()), "duration_ns": r.nominal(),
		}))
	}
	for i, c := range r.conns {
		if !r.complete[i] {
			sock.Abort(c)
		}
	}
}
