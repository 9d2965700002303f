package mtu

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"soku/internal/engine/probe"
	"soku/internal/measure"
	"soku/internal/sock"
)

const (
	// tick bounds how long an ended context goes unnoticed.
	tick = 20 * time.Millisecond
	// gap is between two probes.
	gap = 20 * time.Millisecond
	// Hosts tell of closed ports about once a second after the first few (RFC 1812
	// section 4.3.2.8 asks routers for a limit, and Linux has this one). Faster probes
	// would be taken for too large.
	udpGap, udpAtOnce = time.Second, 5
	// timeoutLeast and timeoutTimes say how long to wait for an answer once a round
	// trip is known.
	timeoutLeast, timeoutTimes = 250 * time.Millisecond, 4
	// reportedTries is how many probes of a size are enough where a node says that
	// it is too large.
	reportedTries = 2
)

// asker sends packets of a size and waits for what comes of them.
type asker struct {
	prober   probe.Prober
	target   netip.Addr
	o        measure.Options
	patience time.Duration
	number   uint16
	sent     int
	arriving int       // probes that were to arrive
	next     time.Time // when the next one of these may leave
	slowest  time.Duration
	blocked  string // what the last error said that was not about size
}

// reaction is what came of packets of one size.
type reaction struct {
	kind    probe.Kind // Arrived, Expired or Nothing
	from    netip.Addr
	rtt     time.Duration
	sent    int
	local   bool // this host would not send it
	reports []measure.MTUReport
}

// patient is how long to wait for an answer, by the slowest round trip so far.
func (a *asker) patient() time.Duration {
	return min(a.o.Timeout.Std(), max(timeoutLeast, timeoutTimes*a.slowest))
}

// ask sends packets of that size until one is answered, o.Count at most.
func (a *asker) ask(ctx context.Context, bytes, hop int) (r reaction, err error) {
	for r.sent < int(a.o.Count) {
		if len(r.reports) > 0 && r.sent >= reportedTries {
			break
		}
		if err := a.wait(ctx, hop); err != nil {
			return r, err
		}
		a.number++
		at := sock.Now()
		switch err := a.prober.Send(0, hop, a.number, bytes); {
		case errors.Is(err, probe.ErrTooLong):
			r.local = true
			return r, nil
		case err != nil && a.sent == 0:
			return r, probe.SendError("mtu", a.target, err)
		case err != nil:
			return r, measure.Errorf(measure.KindBroken, "mtu %s: send %d bytes: %w", a.target, bytes, err).WithHint("what was found before is kept")
		}
		a.sent++
		r.sent++
		if err := a.listen(ctx, &r, at); err != nil || r.kind != probe.Nothing {
			return r, err
		}
	}
	return r, nil
}

// wait holds the gap between probes.
func (a *asker) wait(ctx context.Context, hop int) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		left := a.next.Sub(sock.Now())
		if left <= 0 {
			break
		}
		// What is late is not waited for, but it must leave the queue.
		if err := a.receive(min(left, tick), func(probe.Answer) {}); err != nil {
			return err
		}
	}
	between := gap
	if a.o.Probe == "udp" && hop == toTarget {
		if a.arriving++; a.arriving >= udpAtOnce {
			between = udpGap
		}
	}
	a.next = sock.Now().Add(between)
	return nil
}

// listen waits for the answer to the newest probe. A report about its size does not end
// the waiting: what really happened to the probe does.
func (a *asker) listen(ctx context.Context, r *reaction, at time.Time) error {
	for r.kind == probe.Nothing {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		left := a.patience - sock.Since(at)
		if left <= 0 {
			break
		}
		if err := a.receive(min(left, tick), func(got probe.Answer) { a.take(got, r, at) }); err != nil {
			return err
		}
	}
	a.prober.Forget(a.number)
	return nil
}

func (a *asker) take(got probe.Answer, r *reaction, at time.Time) {
	if got.Vague || got.Number != a.number {
		return // what is not known to be of this size says nothing of it
	}
	switch got.Kind {
	case probe.Arrived, probe.Expired:
		r.kind, r.from, r.rtt = got.Kind, got.From, max(got.At.Sub(at), 0)
		a.slowest = max(a.slowest, r.rtt)
	case probe.TooBig:
		r.reports = append(r.reports, measure.MTUReport{Address: got.From.String(), Bytes: got.MTU})
	case probe.Blocked:
		a.blocked = got.Reason + ", says " + got.From.String()
	}
}

func (a *asker) receive(wait time.Duration, take func(probe.Answer)) error {
	if err := a.prober.Receive(wait, take); err != nil {
		return measure.Errorf(measure.KindBroken, "mtu %s: receive: %w", a.target, err).WithHint("what was found before is kept")
	}
	return nil
}
