package ping

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"soku/internal/engine/latency/roundtrip"
	"soku/internal/engine/probe"
	"soku/internal/measure"
	"soku/internal/sock"
)

const (
	maxPayload = 65507
	// tick limits how long the end of a context goes unnoticed.
	tick = 40 * time.Millisecond
	// maxOutstanding is how many requests the 16-bit sequence number distinguishes.
	maxOutstanding = 1 << 16
)

// Run sends echo requests to target every o.Spacing, o.Count of them or for o.Duration,
// and waits up to o.Timeout for the last replies. o is effective. obs, which may be nil,
// is called with a live interval every o.Interval; each interval with a reply is also a
// row.
//
// A target that never answers is not an error: Received is 0. An error has kind
// [measure.KindPermission] if the system allows no ICMP socket,
// [measure.KindUnreachable] if only ICMP errors arrived or the system has no route (the
// reason is in the figures), and [measure.KindUsage] for an option that the system rejects,
// or it is the cause of ctx, whose end is noticed within 100 ms. The counts until then are
// returned with the error.
func Run(ctx context.Context, target netip.Addr, o measure.Options, obs measure.Observer) (*measure.Latency, error) {
	target = target.Unmap()
	if err := check(target, o); err != nil {
		return nil, err
	}
	s, err := open(target, o)
	if err != nil {
		return nil, err
	}
	defer s.close()
	return newPinger(s, target, o).run(ctx, obs)
}

// Check reports whether Run could open its socket: its errors before the first request.
func Check(target netip.Addr, o measure.Options) error {
	target = target.Unmap()
	if err := check(target, o); err != nil {
		return err
	}
	s, err := open(target, o)
	if err == nil {
		s.close()
	}
	return err
}

func check(target netip.Addr, o measure.Options) error {
	switch {
	case !target.IsValid():
		return measure.Fail(measure.KindUsage, "ping.no_address", nil)
	case o.Size < 0 || o.Size > maxPayload:
		return measure.Fail(measure.KindUsage, "ping.size", measure.Figures{
			"target": target.String(), "size_bytes": o.Size, "most_bytes": maxPayload,
		})
	case o.Count <= 0 && o.Duration <= 0:
		return measure.Fail(measure.KindUsage, "ping.endless", measure.Figures{"target": target.String()})
	case spacingOf(o) <= 0 || o.Timeout <= 0:
		return measure.Fail(measure.KindUsage, "ping.schedule", measure.Figures{"target": target.String()})
	}
	return nil
}

// pinger is one run. Each group of fields belongs to the goroutine it names.
type pinger struct {
	// Set before the run.
	socket  socket
	target  netip.Addr
	o       measure.Options
	spacing measure.Duration // between requests
	id      uint16
	token   uint64
	start   time.Time
	window  *roundtrip.Window
	rec     *roundtrip.Recorder

	// The sender's; Run's caller.
	sent, late int64
	lastSend   int64
	sentAll    atomic.Bool

	// The receiver's.
	received, lost, duplicated int64
	moments                    stats
	lastReply                  int64
	err                        error          // of the socket
	reason                     measure.Reason // of the last ICMP error
	reporter                   netip.Addr     // who sent it
	refusal                    error          // the last error of the network that the system reports without a reason
}

func newPinger(s socket, target netip.Addr, o measure.Options) *pinger {
	outstanding := min(float64(o.Timeout)/float64(spacingOf(o))*1.25+64, maxOutstanding)
	return &pinger{spacing: spacingOf(o),
		socket: s, target: target, o: o, id: uint16(rand.Uint32()), token: rand.Uint64(),
		window: roundtrip.NewWindow(int(outstanding)),
	}
}

func (p *pinger) run(ctx context.Context, obs measure.Observer) (*measure.Latency, error) {
	p.start = sock.Now()
	p.rec = roundtrip.Start(roundtrip.Config{
		Zero: p.start, Interval: p.o.Interval.Std(), Duration: p.o.Duration.Std(), Count: p.o.Count, Observe: obs,
	})
	received := make(chan struct{})
	receiving, stop := context.WithCancel(ctx)
	go func() {
		defer close(received)
		p.receive(receiving)
	}()
	err := p.send(ctx, received)
	p.sentAll.Store(true)
	if err != nil {
		stop() // stop waiting for replies
	}
	<-received
	stop()
	kept := p.rec.Stop(p.now())
	timing := p.socket.timing()
	timing.Loop = measure.LoopOpen
	l := &measure.Latency{
		Timing:    &timing,
		Histogram: kept.Histogram, Rows: kept.Rows, RowsCut: kept.RowsCut, Series: kept.Series,
		Sent: p.sent, Received: p.received, Lost: p.lost, Duplicated: p.duplicated, LateSends: p.late,
		DeviationNs: p.moments.deviation(), SpanNs: max(p.lastSend, p.lastReply),
		LastDueNs: max(0, p.sent-1) * int64(p.spacing), LastSentNs: p.lastSend,
	}
	return l, p.verdict(ctx, err)
}

func (p *pinger) now() int64 { return int64(sock.Since(p.start)) }

// verdict chooses the most informative error.
func (p *pinger) verdict(ctx context.Context, sendErr error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case sendErr != nil:
		return sendErr
	case p.err != nil:
		return measure.Fail(measure.KindBroken, "ping.receive", measure.Figures{"target": p.target.String(), "cause": p.err})
	case p.received == 0 && p.reason != "":
		reporter := ""
		if p.reporter.IsValid() {
			reporter = p.reporter.String()
		}
		return measure.Fail(measure.KindUnreachable, "ping.reported", measure.Figures{
			"target": p.target.String(), "reason": p.reason, "reporter": reporter,
		})
	case p.received == 0 && p.refusal != nil:
		return measure.Fail(measure.KindUnreachable, "ping.unreachable", measure.Figures{"target": p.target.String(), "cause": p.refusal})
	}
	return nil
}

// send keeps the schedule: request i is due at i times the spacing.
func (p *pinger) send(ctx context.Context, received <-chan struct{}) error {
	payload := make([]byte, p.o.Size)
	for i := range payload {
		payload[i] = byte(i)
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for i := int64(0); ; i++ {
		at := i * int64(p.spacing)
		if p.o.Count > 0 && i >= p.o.Count || p.o.Duration > 0 && at >= int64(p.o.Duration) {
			return nil
		}
		timer.Reset(time.Duration(at - p.now()))
		select {
		case <-timer.C:
		case <-received:
			return nil // the receiver has the reason
		case <-ctx.Done():
			return nil
		}
		if p.window.Full() {
			// Only if the timeout spans more requests than there are sequence numbers: this
			// one waits until an older one has expired.
			i--
			timer.Reset(time.Millisecond)
			<-timer.C
			continue
		}
		if p.now()-at > int64(p.spacing) {
			p.late++
		}
		if err := p.sendOne(payload); err != nil {
			return err
		}
	}
}

// sendOne sends the next request. Only the first may fail: later failures are the
// network's, and their requests count as lost.
func (p *pinger) sendOne(payload []byte) error {
	// Built before the time is read, so that building is not part of the round trip.
	n := uint64(p.sent)
	message, err := request(p.target.Is6(), p.id, p.token, n, payload)
	if err != nil {
		return measure.Fail(measure.KindInternal, "ping.request", measure.Figures{"target": p.target.String(), "cause": err})
	}
	p.lastSend = p.now()
	p.window.Add(p.lastSend)
	p.sent++
	err = p.socket.send(message)
	if err != nil && n > 0 {
		// The error may be about an earlier request; then this one was not sent.
		err = p.socket.send(message)
	}
	if err != nil && n == 0 {
		p.sent = 0
		return probe.SendError("ping", p.target, err)
	}
	return nil
}

// receive processes messages until every request is answered or expired.
func (p *pinger) receive(ctx context.Context) {
	for ctx.Err() == nil {
		if p.sentAll.Load() && p.window.Outstanding() == 0 {
			return
		}
		a, err := p.socket.receive(min(tick, p.o.Timeout.Std()))
		at := p.now()
		if err == nil {
			at = int64(a.at.Sub(p.start))
		}
		p.departed()
		p.window.Expire(at-int64(a.delay)-int64(p.o.Timeout), func(int64) {
			p.lost++
			p.rec.Lost(at)
		})
		switch {
		case errors.Is(err, errTick):
		case err == nil:
			p.take(a, at)
		case p.networkSays(err):
		default:
			p.err = err
			return
		}
	}
}

// departed makes requests count from their departure, if the kernel reports it.
func (p *pinger) departed() {
	for {
		packet, at, ok := p.socket.departed()
		if !ok {
			return
		}
		if n, ok := p.number(echoAtEnd(packet, int(p.o.Size)), p.target); ok && !at.IsZero() {
			p.window.Left(n, int64(at.Sub(p.start)))
		}
	}
}

// networkSays stores an ICMP error that the kernel reports on a datagram socket.
func (p *pinger) networkSays(err error) bool {
	for _, e := range []syscall.Errno{
		syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ECONNREFUSED, syscall.EACCES, syscall.EPERM,
		syscall.EMSGSIZE, syscall.EHOSTDOWN, syscall.EPROTO, syscall.ENOPROTOOPT, syscall.EOPNOTSUPP,
	} {
		if errors.Is(err, e) {
			p.reason, p.refusal = "", e
			return true
		}
	}
	return false
}

// take processes one ICMP message.
func (p *pinger) take(a arrival, at int64) {
	if a.reason != "" {
		p.reason, p.reporter = a.reason, a.from
		return
	}
	m := parse(p.target.Is6(), a.message)
	if m.kind == other || p.socket.ownsID() && m.id != p.id {
		return
	}
	if m.kind == failure {
		if _, ok := p.window.Widen(m.seq); ok && m.to == p.target.WithZone("") {
			p.reason, p.reporter = m.reason, a.from
		}
		return
	}
	n, ok := p.number(m, a.from)
	if !ok {
		return
	}
	switch sentAt, verdict := p.window.Answer(n); verdict {
	case roundtrip.Fresh:
		p.received++
		if taken := at - int64(a.delay); taken > sentAt {
			at = taken
		}
		p.rec.Reply(sentAt, at)
		p.moments.add(float64(at - sentAt))
		p.lastReply = max(p.lastReply, at)
	case roundtrip.Duplicate:
		p.duplicated++
	}
}

// number returns the request that a reply belongs to; ok is false if it is none of this
// run.
func (p *pinger) number(m message, from netip.Addr) (n uint64, ok bool) {
	size := int(p.o.Size)
	if size >= tokenSize {
		if len(m.payload) < tokenSize || binary.BigEndian.Uint64(m.payload) != p.token {
			return 0, false
		}
	} else if from.WithZone("") != p.target.WithZone("") {
		return 0, false // only the identifier could show its origin, which is not enough
	}
	if size >= numberedLen && len(m.payload) >= numberedLen {
		n = binary.BigEndian.Uint64(m.payload[tokenSize:])
		return n, uint16(n) == m.seq
	}
	return p.window.Widen(m.seq)
}

// stats is the running mean and spread of the round trips by Welford's method, which
// stays precise for a small spread around a large mean.
type stats struct {
	n        int64
	mean, m2 float64
}

func (s *stats) add(v float64) {
	s.n++
	off := v - s.mean
	s.mean += off / float64(s.n)
	s.m2 += off * (v - s.mean)
}

// deviation returns the standard deviation over all round trips, which the ping of
// iputils calls mdev: the root of the mean square less the squared mean.
func (s *stats) deviation() float64 {
	if s.n == 0 {
		return 0
	}
	return math.Sqrt(s.m2 / float64(s.n))
}
