package tcp

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/meter"
	"soku/internal/sock/pace"
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
func Send(ctx context.Context, conns []*net.TCPConn, o measure.Options, dir measure.Direction, obs measure.Observer) (measure.FlowEnd, error) {
	return send(ctx, conns, o, dir, obs, usual)
}

func send(ctx context.Context, conns []*net.TCPConn, o measure.Options, dir measure.Direction, obs measure.Observer, l limits) (measure.FlowEnd, error) {
	f, err := newFlow(conns, o, dir, measure.Sender, obs, l)
	if err != nil {
		return f.rec.Flow(), err
	}
	s := &sender{flow: f, payload: random(f.unit())}
	if o.Rate > 0 {
		for _, c := range conns {
			// Room above the rate, so that what was late can be made up for.
			sock.LimitPacing(c, uint64(f.streamRate()/8*1.25)+1)
		}
	}
	s.begin = sock.Now()
	if f.timed() {
		s.stop = s.begin.Add(f.nominal())
		f.group.Deadline(s.stop)
	} else {
		s.left.Store(int64(o.Bytes))
	}
	idle := time.Duration(0)
	if !f.timed() {
		idle = f.limits.idle + f.lull()
	}
	f.run(ctx, meter.Window{From: s.begin, Omit: o.Omit.Std(), Idle: idle}, f.start(s.write))
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

type sender struct {
	*flow
	payload []byte // one write of every stream
	begin   time.Time
	stop    time.Time    // of a timed flow
	left    atomic.Int64 // of o.Bytes
}

// write is the worker of one stream.
func (s *sender) write(stream int) {
	put := sock.SendPath(s.conns[stream])
	cell := s.rec.Cell(stream)
	var count meter.Count
	var turn *turns
	if s.o.Rate > 0 {
		turn = s.newTurns(stream)
	}
	for turn == nil || turn.next() {
		chunk := s.chunk()
		if len(chunk) == 0 {
			return
		}
		n, err := put(chunk)
		if n > 0 {
			count.Bytes += int64(n)
			count.Last = sock.Now()
			cell.Publish(count)
		}
		if err != nil {
			if !expired(err) && !s.over() {
				s.group.Stop(s.broken("send to", stream, err))
			}
			return
		}
	}
}

// over tells whether the time of a timed flow is over. Where this host was held
// up past that and past the peer's time to drain, the peer has ended the stream
// with a reset by then, which is no failure.
func (s *sender) over() bool { return s.timed() && !sock.Now().Before(s.stop) }

// chunk is the next write: a whole unit, or what is left of o.Bytes. Streams
// draw on one amount, so that none waits for another's share.
func (s *sender) chunk() []byte {
	if s.timed() {
		return s.payload
	}
	unit := int64(len(s.payload))
	left := s.left.Add(-unit)
	return s.payload[:max(0, min(unit, left+unit))]
}

// turns waits for a stream's turn on its schedule.
type turns struct {
	schedule *pace.Schedule
	waiter   *pace.Waiter
	stop     time.Time
	units    int64 // that may go now
}

// newTurns sets streams off one after another within a gap, so that they do
// not all send at once.
func (s *sender) newTurns(stream int) *turns {
	schedule := func(start time.Time) *pace.Schedule {
		return pace.NewSchedule(start, len(s.payload), s.streamRate(), pace.CoarseBurst)
	}
	shift := schedule(s.begin).Gap() / time.Duration(len(s.conns)) * time.Duration(stream)
	return &turns{schedule: schedule(s.begin.Add(shift)), waiter: pace.NewWaiter(s.group.Stopped()), stop: s.stop}
}

// next waits until a unit is due; false when the flow ends before that.
func (t *turns) next() bool {
	for t.units == 0 {
		now := sock.Now()
		n, wait := t.schedule.Take(now)
		if n > 0 {
			t.units = n
			break
		}
		if !t.stop.IsZero() {
			wait = min(wait, t.stop.Sub(now))
		}
		if wait <= 0 || !t.waiter.Wait(wait) {
			return false
		}
	}
	t.units--
	return true
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
