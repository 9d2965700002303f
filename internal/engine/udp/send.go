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

// Send sends datagrams of o.Size over conns, one a stream in turn, for o.Omit+o.Duration,
// or until o.Bytes were sent over all streams (rounded up to whole datagrams), and then
// reports to the receiver how many there were. With o.Rate the schedule is open: late
// datagrams are made up for, at most at twice the rate. Without it, datagrams are sent as
// fast as the host can. o must be effective.
//
// Errors: ctx's cause if it ended; kind broken if the far end answers "port unreachable"
// for 2 s, or the socket fails; kind usage or permission if a socket option or the size
// was refused. The FlowEnd always holds what was counted. Send returns within 100 ms of
// ctx's end.
func Send(ctx context.Context, conns []net.Conn, o measure.Options, f engine.Flow) (measure.FlowEnd, error) {
	return send(ctx, conns, o, f, usual)
}

func send(ctx context.Context, conns []net.Conn, o measure.Options, asked engine.Flow, l limits) (measure.FlowEnd, error) {
	f, err := newFlow(conns, o, measure.Sender, asked, l)
	defer f.ending.Stop()
	if err != nil {
		return f.count(), err
	}
	s := &sender{flow: f, workers: min(len(conns), sock.Processors)}
	defer func() {
		if asked.Later != nil && f.group.Err() == nil {
			asked.Later(s.finish) // when the connections are the runtime's again
		}
	}()
	defer f.take()()
	drivers, err := s.drivers()
	if err != nil {
		f.group.Stop(err)
		return f.count(), err
	}
	if s.begin = f.policy.Start.Await(ctx, f.group); s.begin.IsZero() {
		s.begin = sock.Now() // after all workers are prepared
	}
	w := meter.Window{From: s.begin, Omit: o.Omit.Std(), Idle: f.idle(measure.Sender)}
	if f.timed() {
		s.stop = s.begin.Add(f.nominal())
		f.group.Deadline(s.stop)
	} else {
		s.left.Store(math.MaxInt64)
		if o.Bytes > 0 {
			begin := func() { s.left.Store((int64(o.Bytes) + int64(o.Size) - 1) / int64(o.Size)) }
			if o.Omit > 0 { // it does not count towards o.Bytes
				w.Begun = begin
			} else {
				begin()
			}
		}
	}
	f.run(ctx, w, f.start(s.workers, func(worker int) { drivers[worker].work(worker) }))
	if asked.Later == nil && f.group.Err() == nil {
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

// drivers prepares the workers: worker i sends on the streams i, i+workers, i+2*workers...
func (s *sender) drivers() ([]*driver, error) {
	all := make([]*driver, s.workers)
	for worker := range all {
		d := &driver{sender: s, waiter: pace.NewWaiter(s.ending.Halted()), box: datagram.NewSender(s.path, int(s.o.Size))}
		if s.policy.Repeating {
			for b := d.box.Datagrams(d.box.Most()); len(b) > 0; b = b[s.o.Size:] {
				sock.Repeating(b[:s.o.Size])
			}
		}
		for i := worker; i < len(s.conns); i += s.workers {
			out, err := d.box.Open(s.conns[i])
			if err != nil {
				return nil, err
			}
			d.lanes = append(d.lanes, &lane{stream: i, out: out, cell: s.rec.Cell(i)})
		}
		all[worker] = d
	}
	return all, nil
}

// work sends on the streams of a worker in turn.
func (d *driver) work(worker int) {
	if d.path != datagram.Write {
		// Its system calls do not notify the runtime, so the goroutine must stay on its
		// thread.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	defer d.pins.Keep(measure.Sender)()
	if d.o.Rate > 0 {
		d.schedule = d.newSchedule(worker)
	}
	for i := 0; ; {
		n := d.turn()
		if n == 0 || !d.send(d.lanes[i], n) {
			return
		}
		if !d.bursting() {
			i = (i + 1) % len(d.lanes)
		}
	}
}

// newSchedule is that of a worker. It begins with the flow; what was due before this thread ran
// is made up for without a burst.
func (d *driver) newSchedule(worker int) *pace.Schedule {
	rate := float64(d.o.Rate) * float64(len(d.lanes)) / float64(len(d.conns))
	schedule := func(start time.Time) *pace.Schedule {
		return pace.NewSchedule(start, int(d.o.Size)*d.burst(), rate, pace.FineBurst)
	}
	// The starts of the workers are spread over a gap.
	shift := schedule(d.begin).Gap() / time.Duration(d.workers) * time.Duration(worker)
	s := schedule(d.begin.Add(shift))
	s.Ready(sock.Now())
	return s
}

// finTimes are when each stream's FIN is sent, in milliseconds after the last datagram:
// often enough that one passes a lossy path.
var finTimes = [...]int{0, 5, 10, 20, 40, 60, 100, 150, 200, 250}

// finish reports to the receiver how many datagrams each stream had. A receiver that
// answers "port unreachable" has ended, so it has the report.
func (s *sender) finish(ctx context.Context) {
	waiter := pace.NewWaiter(ctx.Done())
	began := sock.Now()
	gone := make([]bool, len(s.conns))
	b := make([]byte, s.header())
	for _, at := range finTimes {
		if d := time.Duration(at)*time.Millisecond - sock.Since(began); d > 0 && !waiter.Wait(d) {
			break
		}
		for i, c := range s.conns {
			if gone[i] || ctx.Err() != nil {
				continue
			}
			n := s.fin(b, i)
			if n == 0 {
				return // the protocol reports it by other means
			}
			// A full queue must not delay the end of the context.
			s.group.DeadlineOf(i, sock.Now().Add(50*time.Millisecond))
			_, err := c.Write(b[:n])
			gone[i] = sock.Refused(err)
		}
	}
	if ctx.Err() != nil {
		s.group.Stop(context.Cause(ctx))
	}
}

// fin writes the number of a stream's datagrams into b and returns the length.
func (s *sender) fin(b []byte, stream int) int {
	sent, now := uint64(s.rec.Raw(stream).Packets), sock.Now()
	if f := s.policy.Datagrams; f != nil {
		return f.Fin(b, stream, sent, now)
	}
	header{fin: true, stream: uint16(stream), seq: sent, sentNs: int64(now.Sub(s.begin))}.put(b)
	return headerSize
}
