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
	// tick limits how long the end of a context goes unnoticed.
	tick = 20 * time.Millisecond
	// gap is the time between two probes.
	gap = 20 * time.Millisecond
	// Hosts report closed ports about once a second after the first few (RFC 1812 section
	// 4.3.2.8 asks routers for such a limit, and Linux has this one). Faster probes would
	// be taken for too large.
	udpGap, udpAtOnce = time.Second, 5
	// timeoutLeast and timeoutTimes set how long to wait for an answer once a round trip
	// is known.
	timeoutLeast, timeoutTimes = 250 * time.Millisecond, 4
	// reportedTries is how many probes of a size are enough if a node reports that it is
	// too large.
	reportedTries = 2
)

// asker sends packets of a size and waits for the outcome.
type asker struct {
	prober        probe.Prober
	target        netip.Addr
	o             measure.Options
	answerTimeout time.Duration
	number        uint16
	sent          int
	arriving      int       // probes meant to reach the target
	next          time.Time // when the next of these may be sent
	slowest       time.Duration
	blocked       probe.Answer // the last error that was not about size
}

// reaction is the outcome of packets of one size.
type reaction struct {
	kind    probe.Kind // Arrived, Expired or Nothing
	from    netip.Addr
	rtt     time.Duration
	sent    int
	local   bool // this host refused to send it
	reports []measure.MTUReport
}

// timeout returns how long to wait for an answer, from the slowest round trip so far.
func (a *asker) timeout() time.Duration {
	return min(a.o.Timeout.Std(), max(timeoutLeast, timeoutTimes*a.slowest))
}

// ask sends packets of bytes until one is answered, at most o.Count.
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
			return r, measure.Fail(measure.KindBroken, "mtu.send", measure.Figures{
				"target": a.target.String(), "size_bytes": bytes, "cause": err,
			})
		}
		a.sent++
		r.sent++
		if err := a.listen(ctx, &r, at); err != nil || r.kind != probe.Nothing {
			return r, err
		}
	}
	return r, nil
}

// wait waits for the gap between probes.
func (a *asker) wait(ctx context.Context, hop int) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		left := a.next.Sub(sock.Now())
		if left <= 0 {
			break
		}
		// Late answers are ignored, but they must be removed from the queue.
		if err := a.receive(min(left, tick), func(probe.Answer) {}); err != nil {
			return err
		}
	}
	between := gap
	if probe.OptionsOf(a.o).Probe == "udp" && hop == toTarget {
		if a.arriving++; a.arriving >= udpAtOnce {
			between = udpGap
		}
	}
	a.next = sock.Now().Add(between)
	return nil
}

// listen waits for the answer to the newest probe. A report about its size does not end
// the wait, because only the outcome of the probe counts.
func (a *asker) listen(ctx context.Context, r *reaction, at time.Time) error {
	for r.kind == probe.Nothing {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		left := a.answerTimeout - sock.Since(at)
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
		return // an answer that may be to another size says nothing about this one
	}
	switch got.Kind {
	case probe.Arrived, probe.Expired:
		r.kind, r.from, r.rtt = got.Kind, got.From, max(got.At.Sub(at), 0)
		a.slowest = max(a.slowest, r.rtt)
	case probe.TooBig:
		r.reports = append(r.reports, measure.MTUReport{Address: got.From.String(), Bytes: got.MTU})
	case probe.Blocked:
		a.blocked = got
	}
}

func (a *asker) receive(wait time.Duration, take func(probe.Answer)) error {
	if err := a.prober.Receive(wait, take); err != nil {
		return measure.Fail(measure.KindBroken, "mtu.receive", measure.Figures{"target": a.target.String(), "cause": err})
	}
	return nil
}
