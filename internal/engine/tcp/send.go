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

// Send writes over conns, one a stream, for o.Omit+o.Duration, or o.Bytes over
// all streams, and then waits a bounded time until everything arrived.
// o must be effective.
//
// The count is what was handed to the kernel, less what the peer did not
// acknowledge in the end. Errors: ctx's cause when it ended; kind broken when
// the peer or path went away before the end; kind usage or permission when a
// socket option was refused. The FlowEnd always holds what was counted.
// Send returns within 100 ms of ctx's end, having dropped what was queued.
func Send(ctx context.Context, conns []*net.TCPConn, o measure.Options, f engine.Flow) (measure.FlowEnd, error) {
	return send(ctx, conns, o, f, usual)
}

func send(ctx context.Context, conns []*net.TCPConn, o measure.Options, asked engine.Flow, l limits) (measure.FlowEnd, error) {
	f, err := newFlow(conns, o, measure.Sender, asked, l)
	defer f.ending.Stop()
	if err != nil {
		return f.rec.Flow(), err
	}
	s := &sender{flow: f, size: f.unit()}
	if o.Rate > 0 && o.Burst == 0 { // the kernel would spread a burst
		for _, c := range conns {
			// Room above the rate, so that what was late can be made up for.
			sock.LimitPacing(c, uint64(f.streamRate()/8*1.25)+1)
		}
	}
	work, n, err := s.workers()
	if err != nil {
		return f.rec.Flow(), err
	}
	var begun func()
	s.begin = sock.Now() // when all is made that sends
	switch {
	case f.timed():
		s.stop = s.begin.Add(f.nominal())
		f.group.Deadline(s.stop)
	case o.Bytes > 0:
		s.left.Store(int64(o.Bytes))
		if o.Omit > 0 { // which is no part of the amount
			s.left.Store(math.MaxInt64)
			begun = func() { s.left.Store(int64(o.Bytes)) }
		}
	default:
		s.left.Store(math.MaxInt64)
	}
	f.run(ctx, meter.Window{From: s.begin, Omit: o.Omit.Std(), Idle: f.idle(measure.Sender), Begun: begun}, start(n, work))
	infos := s.infos()
	lost := s.settle(ctx)
	end, err := f.end(ctx)
	for i := range end.Streams {
		stream := &end.Streams[i]
		stream.SentBytes = max(0, stream.SentBytes-lost[i])
		if infos[i] == nil {
			continue
		}
		stream.TCP = infos[i]
		if after, ok := f.rec.Info(i); ok {
			stream.TCP.Retransmits = max(stream.TCP.Retransmits, after.Retransmits)
		}
	}
	return end, err
}

// sender is what all workers of one end share.
type sender struct {
	*flow
	size  int // of one claim, bytes
	begin time.Time
	stop  time.Time    // of a timed flow
	left  atomic.Int64 // of o.Bytes
}

// claim is how many bytes may go next: as many as the flow moves at once, or
// what is left of o.Bytes. Streams draw on one amount, so that none waits for
// another's share.
func (s *sender) claim() int {
	if s.timed() {
		return s.size
	}
	for {
		left := s.left.Load()
		n := min(int64(s.size), left)
		if s.left.CompareAndSwap(left, left-n) {
			return int(n)
		}
	}
}

// giveBack returns the part of a claim that did not go.
func (s *sender) giveBack(n int) {
	if n > 0 && !s.timed() {
		s.left.Add(int64(n))
	}
}

// over tells whether the flow is: a timed one by its time. Where this host was held
// up past that and past the peer's time to drain, the peer has ended the stream
// with a reset by then, which is no failure.
func (s *sender) over() bool {
	stop := s.stop
	if s.policy.KeepOpen { // the far end's clock began with its first byte, or with a word before that
		stop = stop.Add(-s.haste())
	}
	return s.ending.Over() || s.timed() && !sock.Now().Before(stop)
}

// infos asks the kernel about each stream; nil where it does not tell.
func (s *sender) infos() []*measure.TCPInfo {
	infos := make([]*measure.TCPInfo, len(s.conns))
	for i := range infos {
		if t, ok := s.rec.Info(i); ok {
			infos[i] = &t
		}
	}
	return infos
}
