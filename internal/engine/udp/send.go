package udp

import (
	"context"
	"math"
	"net"
	"runtime"
	"sync/atomic"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/datagram"
	"soku/internal/sock/meter"
	"soku/internal/sock/pace"
)

// Send sends datagrams of o.Size over conns, one a stream in turn, for
// o.Omit+o.Duration, or until o.Bytes were sent over all streams (rounded up
// to whole datagrams), and then tells the receiver how many there were.
// With o.Rate the schedule is open: late datagrams are made up for, at most at
// twice the rate; without, datagrams go as fast as the host sends them.
// o must be effective.
//
// Errors: ctx's cause when it ended; kind broken when the far end answers for
// 2 s that nobody listens, or the socket fails; kind usage or permission when
// a socket option or the size was refused. The FlowEnd always holds what was
// counted. Send returns within 100 ms of ctx's end.
func Send(ctx context.Context, conns []net.Conn, o measure.Options, f engine.Flow) (measure.FlowEnd, error) {
	return send(ctx, conns, o, f, usual)
}

func send(ctx context.Context, conns []net.Conn, o measure.Options, asked engine.Flow, l limits) (measure.FlowEnd, error) {
	f, err := newFlow(conns, o, measure.Sender, asked, l)
	defer f.ending.Stop()
	if err != nil {
		return f.count(), err
	}
	defer f.take()()
	s := &sender{flow: f, workers: min(len(conns), sock.Processors), begin: sock.Now()}
	w := meter.Window{From: s.begin, Omit: o.Omit.Std(), Idle: f.idle(measure.Sender)}
	if f.timed() {
		s.stop = s.begin.Add(f.nominal())
		f.group.Deadline(s.stop)
	} else {
		s.left.Store(math.MaxInt64)
		if o.Bytes > 0 {
			begin := func() { s.left.Store((int64(o.Bytes) + int64(o.Size) - 1) / int64(o.Size)) }
			if o.Omit > 0 { // which is no part of the amount
				w.Begun = begin
			} else {
				begin()
			}
		}
	}
	f.run(ctx, w, start(s.workers, s.work))
	if f.group.Err() == nil {
		s.finish(ctx)
	}
	end := f.count()
	for i := range end.Streams {
		total := f.rec.Total(i).Packets
		end.Streams[i].Packets = &measure.PacketCount{Sent: total, Omitted: f.rec.Raw(i).Packets - total}
	}
	return end, f.failure(ctx)
}

type sender struct {
	*flow
	workers int
	begin   time.Time
	stop    time.Time    // of a timed flow
	left    atomic.Int64 // datagrams of o.Bytes
}

// work sends on the streams worker, worker+workers, worker+2*workers... in turn.
func (s *sender) work(worker int) {
	box := datagram.NewSender(s.path, int(s.o.Size))
	if s.policy.Repeating {
		for b := box.Datagrams(box.Most()); len(b) > 0; b = b[s.o.Size:] {
			sock.Repeating(b[:s.o.Size])
		}
	}
	var lanes []*lane
	for i := worker; i < len(s.conns); i += s.workers {
		out, err := box.Open(s.conns[i])
		if err != nil {
			s.group.Stop(err)
			return
		}
		lanes = append(lanes, &lane{stream: i, out: out, cell: s.rec.Cell(i)})
	}
	if s.path != datagram.Write {
		// What it calls does not tell the runtime, and is not to be moved about.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	defer s.pins.Keep(measure.Sender)()
	d := &driver{sender: s, lanes: len(lanes), waiter: pace.NewWaiter(s.ending.Halted()), box: box}
	if s.o.Rate > 0 {
		rate := float64(s.o.Rate) * float64(len(lanes)) / float64(len(s.conns))
		unit := int(s.o.Size) * s.burst()
		ready := sock.Now() // not s.begin: there is nothing to catch up with yet
		gap := pace.NewSchedule(ready, unit, rate, pace.FineBurst).Gap()
		// Workers set off one after another within a gap.
		shift := gap / time.Duration(s.workers) * time.Duration(worker)
		d.schedule = pace.NewSchedule(ready.Add(shift), unit, rate, pace.FineBurst)
	}
	for i := 0; ; {
		n := d.turn()
		if n == 0 || !d.send(lanes[i], n) {
			return
		}
		if !d.bursting() {
			i = (i + 1) % len(lanes)
		}
	}
}

// farewell is when, in milliseconds after the last datagram, each stream's FIN
// is sent: often enough that a path in bad order lets one pass.
var farewell = [...]int{0, 5, 10, 20, 40, 60, 100, 150, 200, 250}

// finish tells the receiver how many datagrams each stream had. A receiver
// that has gone already, as an answer shows, has got it.
func (s *sender) finish(ctx context.Context) {
	waiter := pace.NewWaiter(ctx.Done())
	began := sock.Now()
	gone := make([]bool, len(s.conns))
	b := make([]byte, s.header())
	for _, at := range farewell {
		if d := time.Duration(at)*time.Millisecond - sock.Since(began); d > 0 && !waiter.Wait(d) {
			break
		}
		for i, c := range s.conns {
			if gone[i] || ctx.Err() != nil {
				continue
			}
			n := s.lastWord(b, i)
			if n == 0 {
				return // the protocol says it elsewhere
			}
			// A full queue must not hold up the end of the context.
			s.group.DeadlineOf(i, sock.Now().Add(50*time.Millisecond))
			_, err := c.Write(b[:n])
			gone[i] = sock.Refused(err)
		}
	}
	if ctx.Err() != nil {
		s.group.Stop(context.Cause(ctx))
	}
}

// lastWord writes how many datagrams the stream had into b and returns its length.
func (s *sender) lastWord(b []byte, stream int) int {
	sent, now := uint64(s.rec.Raw(stream).Packets), sock.Now()
	if f := s.policy.Datagrams; f != nil {
		return f.Fin(b, stream, sent, now)
	}
	header{fin: true, stream: uint16(stream), seq: sent, sentNs: int64(now.Sub(s.begin))}.put(b)
	return headerSize
}
