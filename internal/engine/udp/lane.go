package udp

import (
	"errors"
	"os"
	"time"

	"soku/internal/engine"
	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/sock/datagram"
	"soku/internal/sock/meter"
	"soku/internal/sock/pace"
)

// lane is the state of one stream in its sending worker.
type lane struct {
	stream int
	out    *datagram.Writer
	cell   *meter.Cell
	count  meter.Count
}

// driver is a sending worker.
type driver struct {
	*sender
	lanes    []*lane
	schedule *pace.Schedule // nil: no rate limit
	waiter   *pace.Waiter
	units    int64 // due now by the schedule
	claimed  int64 // datagrams of o.Bytes that this worker has reserved
	repeats  bool  // more than o.Bytes, because the peer lacks some
	box      *datagram.Sender
	refusal  refusals
}

// turn waits until a datagram is due, and returns how many a lane may send now, or 0 if the
// flow ends first.
func (d *driver) turn() int {
	if d.ending.Over() {
		return 0
	}
	n := int64(d.box.Most())
	if d.schedule != nil {
		if !d.due() {
			return 0
		}
		if burst := int64(d.burst()); burst > 1 { // the rest of a burst
			n = min(n, (d.units-1)%burst+1)
		} else { // spread what is due over all lanes
			n = min(n, (d.units+int64(len(d.lanes))-1)/int64(len(d.lanes)))
		}
	}
	if !d.timed() {
		n = min(n, d.claim(n))
	}
	return int(n)
}

// due waits until a datagram is due.
func (d *driver) due() bool {
	if d.units == 0 {
		d.units = int64(d.burst()) * d.schedule.Next(sock.Now, d.stop, d.waiter.WaitFine)
	}
	return d.units > 0
}

// bursting reports whether a burst has begun and is not complete; one lane sends all of
// it.
func (d *driver) bursting() bool { return d.units%int64(d.burst()) != 0 }

// claim reserves up to n of the datagrams left to all workers, unless this worker has
// some reserved, and returns how many it has. The fewer are left the fewer it reserves,
// so that all streams share the last ones.
func (d *driver) claim(n int64) int64 {
	for d.claimed == 0 {
		left := d.left.Load()
		take := min(n, max(1, left/int64(2*len(d.conns))))
		if left <= 0 {
			if !d.goesOn() {
				return 0
			}
			continue
		}
		if d.left.CompareAndSwap(left, left-take) {
			d.claimed = take
		}
	}
	return d.claimed
}

// A peer that lacks datagrams of the amount gets a tenth of it again and again; the first
// time after peerEndsIn, which is longer than peers need to end a flow that is complete.
const (
	peerEndsIn = 2 * time.Second
	moreAfter  = 100 * time.Millisecond
	moreShare  = 10
)

// goesOn waits for the peer to end a flow whose datagrams have all been sent. If the peer does not
// end it, goesOn releases more datagrams and returns true. It returns false if the peer has ended
// the flow, or if the policy does not let the peer end it.
func (d *driver) goesOn() bool {
	if !d.policy.PeerEnds {
		return false
	}
	wait := moreAfter
	if !d.repeats {
		wait = peerEndsIn
	}
	if d.repeats = true; !d.waiter.Wait(wait) {
		return false
	}
	more := int64(d.o.Bytes) / int64(d.o.Size) / moreShare
	for left := d.left.Load(); left <= 0 && !d.left.CompareAndSwap(left, max(more, int64(len(d.conns)))); left = d.left.Load() {
	}
	return true
}

// full is how long to wait after the host's queues were full.
const full = 100 * time.Microsecond

// send sends the next n datagrams of l, and returns false if the flow has ended. It may send none
// if there is no room.
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
		if d.limit != nil && !d.waiter.Balance(d.limit.Spend(int64(k)*int64(d.o.Size)), d.stop) {
			return false
		}
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

// sent counts n sent datagrams.
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

// goOn reports whether a send error is temporary, and waits for its end.
func (d *driver) goOn(l *lane, now time.Time, err error) bool {
	peer := d.conns[l.stream].RemoteAddr()
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return false
	case sock.Refused(err):
		if !d.refusal.last(now, d.limits.refused, d.lull()) {
			return true
		}
		d.group.Stop(engine.FailStream(d.conns, l.stream, "flow.send", measure.Figures{"cause": err}))
	case sock.NoBuffers(err):
		return d.waiter.WaitFine(full)
	case errors.Is(err, datagram.ErrSegments):
		d.group.Stop(measure.Fail(measure.KindUsage, "udp.segments", measure.Figures{"size_bytes": d.o.Size, "peer": peer.String()}).WithCause(err))
	case sock.TooLong(err) && OptionsOf(d.o).NoFragment:
		d.group.Stop(d.tooLong(l.stream))
	case sock.TooLong(err):
		d.group.Stop(measure.Fail(measure.KindUsage, "udp.too_large", measure.Figures{"size_bytes": d.o.Size, "peer": peer.String()}))
	default:
		d.group.Stop(engine.FailStream(d.conns, l.stream, "flow.send", measure.Figures{"cause": err}))
	}
	return false
}

// tooLong returns the error for datagrams that would be fragmented, which the options
// forbid.
func (d *driver) tooLong(stream int) error {
	const headers4, headers6 = 28, 48
	peer := sock.AddrPort(d.conns[stream].RemoteAddr())
	headers := headers6
	if peer.Addr().Is4() {
		headers = headers4
	}
	mtu, known := sock.PathMTU(d.conns[stream])
	if !known || mtu <= headers || mtu-headers >= int(d.o.Size) {
		return measure.Fail(measure.KindUsage, "udp.unfragmented", measure.Figures{"size_bytes": d.o.Size, "peer": peer.String()})
	}
	return measure.Fail(measure.KindUsage, "udp.unfragmented.mtu", measure.Figures{
		"size_bytes": d.o.Size, "peer": peer.String(), "mtu_bytes": mtu, "most_bytes": mtu - headers,
	})
}

// refusals distinguish a far end that is not ready yet, or was down for a moment, from
// one that has ended.
type refusals struct{ first, latest time.Time }

// last records a refusal; true if they have continued for longer than limit. Hosts send
// at most about one a second, and only in answer to a datagram, so a pause of less than
// three seconds plus the flow's own lull does not count as a pause.
func (r *refusals) last(now time.Time, limit, lull time.Duration) bool {
	if now.Sub(r.latest) > 3*time.Second+lull {
		r.first = now
	}
	r.latest = now
	return now.Sub(r.first) >= limit
}
