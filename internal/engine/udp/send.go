package udp

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
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
func Send(ctx context.Context, conns []net.Conn, o measure.Options, dir measure.Direction, obs measure.Observer) (measure.FlowEnd, error) {
	return send(ctx, conns, o, dir, obs, usual)
}

func send(ctx context.Context, conns []net.Conn, o measure.Options, dir measure.Direction, obs measure.Observer, l limits) (measure.FlowEnd, error) {
	f, err := newFlow(conns, o, dir, measure.Sender, obs, l)
	if err != nil {
		return f.rec.Flow(), err
	}
	s := &sender{flow: f, workers: min(len(conns), runtime.GOMAXPROCS(0)), begin: sock.Now()}
	w := meter.Window{From: s.begin, Omit: o.Omit.Std()}
	if f.timed() {
		s.stop = s.begin.Add(f.nominal())
		f.group.Deadline(s.stop)
	} else {
		s.left.Store((int64(o.Bytes) + int64(o.Size) - 1) / int64(o.Size))
		w.Idle = l.idle + f.lull()
	}
	f.run(ctx, w, start(s.workers, s.work))
	if f.group.Err() == nil {
		s.finish(ctx)
	}
	end := f.rec.Flow()
	for i := range end.Streams {
		end.Streams[i].Packets = &measure.PacketCount{Sent: f.rec.Total(i).Packets}
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

// lane is one stream as its worker sees it.
type lane struct {
	stream int
	put    func([]byte) (int, error)
	cell   *meter.Cell
	count  meter.Count
}

// work sends on the streams worker, worker+workers, worker+2*workers... in turn.
func (s *sender) work(worker int) {
	var lanes []*lane
	for i := worker; i < len(s.conns); i += s.workers {
		lanes = append(lanes, &lane{stream: i, put: sock.SendPath(s.conns[i]), cell: s.rec.Cell(i)})
	}
	d := &driver{sender: s, waiter: pace.NewWaiter(s.group.Stopped()), datagram: make([]byte, s.o.Size)}
	_, _ = rand.Read(d.datagram) // never fails
	if s.o.Rate > 0 {
		rate := float64(s.o.Rate) * float64(len(lanes)) / float64(len(s.conns))
		gap := pace.NewSchedule(s.begin, int(s.o.Size), rate, pace.FineBurst).Gap()
		// Workers set off one after another within a gap.
		shift := gap / time.Duration(s.workers) * time.Duration(worker)
		d.schedule = pace.NewSchedule(s.begin.Add(shift), int(s.o.Size), rate, pace.FineBurst)
	}
	for i := 0; ; i = (i + 1) % len(lanes) {
		if !d.turn() || !s.timed() && s.left.Add(-1) < 0 || !d.send(lanes[i]) {
			return
		}
	}
}

// driver is what one worker needs to send.
type driver struct {
	*sender
	schedule *pace.Schedule // nil: as fast as it goes
	waiter   *pace.Waiter
	units    int64 // that the schedule lets go now
	datagram []byte
	refusal  refusals
}

// turn waits until a datagram is due; false when the flow ends before that.
func (d *driver) turn() bool {
	for d.schedule != nil && d.units == 0 {
		now := sock.Now()
		n, wait := d.schedule.Take(now)
		if n > 0 {
			d.units = n
			break
		}
		if !d.stop.IsZero() {
			wait = min(wait, d.stop.Sub(now))
		}
		if wait <= 0 || !d.waiter.WaitFine(wait) {
			return false
		}
	}
	d.units--
	return true
}

// full is how long to leave a host alone whose queues are full.
const full = 100 * time.Microsecond

// send sends the next datagram of l; false when the flow has ended.
func (d *driver) send(l *lane) bool {
	for {
		now := sock.Now()
		if !d.stop.IsZero() && !now.Before(d.stop) {
			return false
		}
		header{stream: uint16(l.stream), seq: uint64(l.count.Packets), sentNs: int64(now.Sub(d.begin))}.put(d.datagram)
		n, err := l.put(d.datagram)
		switch {
		case err == nil:
			l.count.Bytes += int64(n)
			l.count.Packets++
			l.count.Last = now
			l.cell.Publish(l.count)
			return true
		case errors.Is(err, os.ErrDeadlineExceeded):
			return false
		case sock.Refused(err):
			if d.refusal.last(now, d.limits.refused, d.lull()) {
				d.group.Stop(d.broken("send to", l.stream, err))
				return false
			}
		case sock.NoBuffers(err):
			if !d.waiter.WaitFine(full) {
				return false
			}
		case sock.TooLong(err):
			d.group.Stop(measure.Errorf(measure.KindUsage, "send datagrams of %d bytes to %s: this host does not send so large ones", d.o.Size, d.conns[l.stream].RemoteAddr()).
				WithHint("use a smaller --size"))
			return false
		default:
			d.group.Stop(d.broken("send to", l.stream, err))
			return false
		}
	}
}

// refusals tell a far end that is not ready yet, or was away for a moment,
// from one that is gone.
type refusals struct{ first, latest time.Time }

// last notes a refusal; true when they have gone on for longer than limit.
// Hosts send no more than about one a second, and none without a datagram, so
// a pause of less than three seconds and the flow's own lull is none.
func (r *refusals) last(now time.Time, limit, lull time.Duration) bool {
	if now.Sub(r.latest) > 3*time.Second+lull {
		r.first = now
	}
	r.latest = now
	return now.Sub(r.first) >= limit
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
	var b [headerSize]byte
	for _, at := range farewell {
		if d := time.Duration(at)*time.Millisecond - sock.Since(began); d > 0 && !waiter.Wait(d) {
			break
		}
		for i, c := range s.conns {
			if gone[i] || ctx.Err() != nil {
				continue
			}
			header{fin: true, stream: uint16(i), seq: uint64(s.rec.Raw(i).Packets), sentNs: int64(sock.Since(s.begin))}.put(b[:])
			// A full queue must not hold up the end of the context.
			s.group.DeadlineOf(i, time.Now().Add(50*time.Millisecond))
			_, err := c.Write(b[:])
			gone[i] = sock.Refused(err)
		}
	}
	if ctx.Err() != nil {
		s.group.Stop(context.Cause(ctx))
	}
}
