package udp

import (
	"errors"
	"os"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/datagram"
	"soku/internal/sock/meter"
	"soku/internal/sock/pace"
)

// lane is one stream as its worker sees it.
type lane struct {
	stream int
	out    *datagram.Writer
	cell   *meter.Cell
	count  meter.Count
}

// driver is what one worker needs to send.
type driver struct {
	*sender
	lanes    int
	schedule *pace.Schedule // nil: as fast as it goes
	waiter   *pace.Waiter
	units    int64 // that the schedule lets go now
	claimed  int64 // of the datagrams left, those that are this worker's to send
	box      *datagram.Sender
	refusal  refusals
}

// turn waits until a datagram is due, and returns how many a lane may send now;
// 0 when the flow ends before that.
func (d *driver) turn() int {
	if d.ending.Over() {
		return 0
	}
	n := int64(d.box.Most())
	if d.schedule != nil {
		if !d.due() {
			return 0
		}
		if burst := int64(d.burst()); burst > 1 { // what is left of it
			n = min(n, (d.units-1)%burst+1)
		} else { // what is due goes over all lanes, in turn
			n = min(n, (d.units+int64(d.lanes)-1)/int64(d.lanes))
		}
	}
	if !d.timed() {
		n = min(n, d.claim(n))
	}
	return int(n)
}

// due waits until the schedule lets a datagram go.
func (d *driver) due() bool {
	if d.units == 0 {
		d.units = int64(d.burst()) * d.schedule.Next(sock.Now, d.stop, d.waiter.WaitFine)
	}
	return d.units > 0
}

// bursting tells whether a burst has begun that is not yet sent as a whole; it is all
// one lane's.
func (d *driver) bursting() bool { return d.units%int64(d.burst()) != 0 }

// claim takes up to n of the datagrams that are left for all workers, unless
// some are this worker's already, and returns how many are. The fewer are left
// the fewer it takes, so that all streams have their share of the last.
func (d *driver) claim(n int64) int64 {
	for d.claimed == 0 {
		left := d.left.Load()
		take := min(n, max(1, left/int64(2*len(d.conns))))
		if left <= 0 {
			return 0
		}
		if d.left.CompareAndSwap(left, left-take) {
			d.claimed = take
		}
	}
	return d.claimed
}

// full is how long to leave a host alone whose queues are full.
const full = 100 * time.Microsecond

// send sends the next n datagrams of l; false when the flow has ended. It
// returns without having sent any when there is no room for them.
func (d *driver) send(l *lane, n int) bool {
	for sent := 0; sent < n; {
		now := sock.Now()
		if !d.stop.IsZero() && !now.Before(d.stop) {
			return false
		}
		d.putHeaders(l, d.box.Datagrams(n-sent), now)
		k, err := l.out.Send(n - sent)
		if err != nil {
			if !d.goOn(l, now, err) {
				return false
			}
			continue
		}
		if k == 0 {
			continue
		}
		sent += k
		d.sent(l, int64(k), now)
	}
	return true
}

func (d *driver) putHeaders(l *lane, b []byte, now time.Time) {
	if f := d.policy.Datagrams; f != nil {
		f.PutAll(b, int(d.o.Size), l.stream, uint64(l.count.Packets), now)
		return
	}
	h := header{stream: uint16(l.stream), seq: uint64(l.count.Packets), sentNs: int64(now.Sub(d.begin))}
	h.putAll(b, int(d.o.Size))
}

// sent counts n datagrams that left.
func (d *driver) sent(l *lane, n int64, now time.Time) {
	l.count.Bytes += n * int64(d.o.Size)
	l.count.Packets += n
	l.count.Last = now
	l.cell.Publish(l.count)
	if d.schedule != nil {
		d.units -= n
	}
	if !d.timed() {
		d.claimed -= n
	}
}

// goOn tells whether an error of sending is one that passes, and waits for that.
func (d *driver) goOn(l *lane, now time.Time, err error) bool {
	peer := d.conns[l.stream].RemoteAddr()
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return false
	case sock.Refused(err):
		if !d.refusal.last(now, d.limits.refused, d.lull()) {
			return true
		}
		d.group.Stop(d.broken("send to", l.stream, err))
	case sock.NoBuffers(err):
		return d.waiter.WaitFine(full)
	case errors.Is(err, datagram.ErrSegments):
		d.group.Stop(measure.Errorf(measure.KindUsage, "send datagrams of %d bytes to %s by tx gso: %w", d.o.Size, peer, err).
			WithHint("use a smaller --size, or --tx batch"))
	case sock.TooLong(err) && d.o.NoFragment:
		d.group.Stop(d.tooLong(l.stream))
	case sock.TooLong(err):
		d.group.Stop(measure.Errorf(measure.KindUsage, "send datagrams of %d bytes to %s: this host does not send so large ones", d.o.Size, peer).
			WithHint("use a smaller --size"))
	default:
		d.group.Stop(d.broken("send to", l.stream, err))
	}
	return false
}

// tooLong is the error for datagrams that would leave in fragments, which is forbidden.
func (d *driver) tooLong(stream int) error {
	const headers4, headers6 = 28, 48
	peer := sock.AddrPort(d.conns[stream].RemoteAddr())
	headers := headers6
	if peer.Addr().Is4() {
		headers = headers4
	}
	mtu, known := sock.PathMTU(d.conns[stream])
	if !known || mtu <= headers || mtu-headers >= int(d.o.Size) {
		return measure.Errorf(measure.KindUsage, "send datagrams of %d bytes to %s without fragments: the path does not carry so large ones", d.o.Size, peer).
			WithHint("use a smaller --size, or leave out --dont-fragment")
	}
	return measure.Errorf(measure.KindUsage, "send datagrams of %d bytes to %s without fragments: the path carries packets of %d bytes", d.o.Size, peer, mtu).
		WithHint("use --size %d or less, or leave out --dont-fragment", mtu-headers)
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
