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
	flow          int // of the probes
	number        uint16
	sent          int
	next          time.Time          // when the next probe may be sent
	answers       map[int]*allowance // by hop limit
	slowest       time.Duration
	blocked       probe.Answer // the last error that was not about size
}

// allowance is what is known of the answers to probes with one hop limit.
type allowance struct {
	last time.Time // when the last answered probe was sent
	slow bool      // a limit on answers may have shown
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

// ask sends packets of bytes until one is answered, or o.Count were not although an answer
// was due: two, if a node reports their size. A node that limits its errors may not answer
// within [probe.ErrorRefill] of its last one: such silence says nothing about the size, and
// the next packet is sent after [probe.ErrorSpacing].
func (a *asker) ask(ctx context.Context, bytes, hop int) (r reaction, err error) {
	known := a.allowance(hop)
	var first time.Time
	for tries := 0; tries < int(a.o.Count); {
		if len(r.reports) > 0 && tries >= reportedTries {
			break
		}
		earliest := a.next
		if known.slow {
			earliest = later(earliest, known.last.Add(probe.ErrorSpacing))
		} else if known.last.IsZero() && tries > 0 && tries == int(a.o.Count)-1 && a.limited(hop) {
			earliest = later(earliest, first.Add(probe.ErrorSpacing)) // other probes may have used up the node's limit
		}
		if err := a.wait(ctx, earliest); err != nil {
			return r, err
		}
		at := sock.Now()
		if r.sent == 0 {
			first = at
		}
		if err := a.send(&r, bytes, hop); err != nil || r.local {
			return r, err
		}
		if err := a.listen(ctx, &r, at); err != nil {
			return r, err
		}
		if r.kind != probe.Nothing {
			known.last = at
			return r, nil
		}
		if len(r.reports) == 0 && a.limited(hop) && at.Sub(known.last) < probe.ErrorRefill {
			known.slow = true // it may have been the limit
			continue
		}
		tries++
	}
	return r, nil
}

// limited reports whether answers to probes with this hop limit are ICMP errors.
func (a *asker) limited(hop int) bool {
	return hop != toTarget || probe.OptionsOf(a.o).Probe == "udp"
}

func (a *asker) allowance(hop int) *allowance {
	if a.answers == nil {
		a.answers = map[int]*allowance{}
	}
	if a.answers[hop] == nil {
		a.answers[hop] = &allowance{}
	}
	return a.answers[hop]
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// send sends one packet.
func (a *asker) send(r *reaction, bytes, hop int) error {
	if a.number++; a.number > probe.LastNumber {
		a.number = probe.FirstNumber
	}
	switch err := a.prober.Send(a.flow, hop, a.number, bytes); {
	case errors.Is(err, probe.ErrTooLong):
		r.local = true
		return nil
	case err != nil && a.sent == 0:
		return probe.SendError("mtu", a.target, err)
	case err != nil:
		return measure.Fail(measure.KindBroken, "mtu.send", measure.Figures{
			"target": a.target.String(), "size_bytes": bytes, "cause": err,
		})
	}
	a.sent++
	r.sent++
	return nil
}

// wait waits for the time of the next probe.
func (a *asker) wait(ctx context.Context, until time.Time) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		left := until.Sub(sock.Now())
		if left <= 0 {
			break
		}
		// Late answers are ignored, but they must be removed from the queue.
		if err := a.receive(min(left, tick), func(probe.Answer) {}); err != nil {
			return err
		}
	}
	a.next = sock.Now().Add(gap)
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
	if got.Vague || got.Flow != a.flow || got.Number != a.number {
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
