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

// Send writes to conns, one a stream, for o.Omit+o.Duration, or o.Bytes over all streams,
// and then waits a bounded time until everything arrived. o must be effective.
//
// The count is the bytes that the kernel accepted, less those that the peer did not
// acknowledge in the end. Errors: ctx's cause if it ended; kind broken if the peer or
// path failed before the end; kind usage or permission if a socket option was refused.
// The FlowEnd always holds what was counted. Send returns within 100 ms of ctx's end, and
// then discards what was queued.
func Send(ctx context.Context, conns []*net.TCPConn, o measure.Options, f engine.Flow) (measure.FlowEnd, error) {
	return send(ctx, conns, o, f, usual)
}

func send(ctx context.Context, conns []*net.TCPConn, o measure.Options, asked engine.Flow, l limits) (measure.FlowEnd, error) {
	f, err := newFlow(conns, o, measure.Sender, asked, l)
	defer f.ending.Stop()
	if err != nil {
		return f.rec.Flow(), err
	}
	s := &sender{flow: f, size: f.unit(), block: max(1, f.policy.Block)}
	if o.Rate > 0 && o.Burst == 0 { // kernel pacing would spread a burst
		for _, c := range conns {
			// Above the rate, so that late sends can be made up for.
			sock.LimitPacing(c, uint64(f.streamRate()/8*1.25)+1)
		}
	}
	work, n, err := s.workers()
	if err != nil {
		return f.rec.Flow(), err
	}
	var begun func()
	if s.begin = f.policy.Start.Await(ctx, f.group); s.begin.IsZero() {
		s.begin = sock.Now() // after all workers are prepared
	}
	switch {
	case f.timed():
		s.stop = s.begin.Add(f.nominal())
		f.group.Deadline(s.stop)
	case o.Bytes > 0:
		s.left.Store(int64(o.Bytes))
		if o.Omit > 0 { // it does not count towards o.Bytes
			s.left.Store(math.MaxInt64)
			begun = func() { s.left.Store(int64(o.Bytes)) }
		}
	default:
		s.left.Store(math.MaxInt64)
	}
	f.run(ctx, meter.Window{From: s.begin, Omit: o.Omit.Std(), Idle: f.idle(measure.Sender), Begun: begun}, f.start(n, work))
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

// sender is the state that all workers of a flow share.
type sender struct {
	*flow
	size  int // of one call, bytes
	block int // of o.Bytes, which a stream claims as a whole, bytes
	begin time.Time
	stop  time.Time    // of a timed flow
	left  atomic.Int64 // of o.Bytes
}

// next returns how many bytes a stream sends next: the unit of the flow, or what is left of
// o.Bytes. rest is what the stream has claimed of that and not sent. All streams draw from
// one amount, so that none waits for another's share.
func (s *sender) next(rest *int) int {
	if s.timed() {
		return s.size
	}
	if missing := s.size - *rest; missing > 0 {
		*rest += s.claim((missing + s.block - 1) / s.block * s.block)
	}
	return min(s.size, *rest)
}

// claim takes up to most bytes from o.Bytes.
func (s *sender) claim(most int) int {
	for {
		left := s.left.Load()
		n := min(int64(most), left)
		if s.left.CompareAndSwap(left, left-n) {
			return int(n)
		}
	}
}

// sent takes n bytes from the rest of a stream.
func (s *sender) sent(rest *int, n int) {
	if !s.timed() {
		*rest -= n
	}
}

// giveBack returns what a stream that ends has claimed and not sent.
func (s *sender) giveBack(rest *int) {
	s.left.Add(int64(*rest))
	*rest = 0
}

// over reports whether a timed flow has reached its end. If this host was delayed past
// that and past the peer's time to drain, the peer has reset the stream by then, which is
// not a failure.
func (s *sender) over() bool {
	stop := s.stop
	if s.policy.KeepOpen { // the peer's clock began with its first byte, or with a message before that
		stop = stop.Add(-s.earlyMargin())
	}
	return s.ending.Over() || s.timed() && !sock.Now().Before(stop)
}

// infos returns the TCP_INFO of each stream, or nil if the kernel does not report it.
func (s *sender) infos() []*measure.TCPInfo {
	infos := make([]*measure.TCPInfo, len(s.conns))
	for i := range infos {
		if t, ok := s.rec.Info(i); ok {
			infos[i] = &t
		}
	}
	return infos
}
