package trace

import (
	"context"
	"net/netip"
	"time"

	"soku/internal/engine/probe"
	"soku/internal/measure"
	"soku/internal/sock"
)

const (
	// tick limits how long the end of a context goes unnoticed.
	tick = 20 * time.Millisecond
	// gap is the time between two probes: at most 250 a second, with any number of flows.
	gap = 4 * time.Millisecond
	// viewEvery is the time between two calls of view.
	viewEvery = 200 * time.Millisecond
	// unknownTimeout and unknownPerFlow bound the time after the last round in which hops that
	// limit their answers are still asked for flows not seen there.
	unknownTimeout, unknownPerFlow = 10 * time.Second, 2500 * time.Millisecond
)

// Run traces the path to target in o.Count rounds, o.Interval apart, with o.Flows flows, at
// most 250 probes a second and no more than the hops answer (docs/reference/trace.md). It
// goes on after the last round for as long as hops that limit their answers have not
// answered every flow, at most 10 s and 2.5 s a flow. o is effective. view, which may be
// nil, is called with what is known so far up to five times a second, and must return within
// a few milliseconds. latency has the round trips to the target.
//
// A target that never answers is not an error. An error comes from [probe.Open], has kind
// [measure.KindBroken] if the system stops sending or receiving, or is the cause of ctx,
// whose end is noticed within 100 ms. The trace until then is returned with the error; t is
// nil if nothing was found.
func Run(ctx context.Context, target netip.Addr, o measure.Options, view func(*measure.Trace)) (t *measure.Trace, latency *measure.Latency, err error) {
	target = target.Unmap()
	p, err := probe.Open(probe.Config{What: "trace", Target: target, Options: o, Flows: o.Flows})
	if err != nil {
		return nil, nil, err
	}
	defer p.Close()
	tr := newTracer(p, target, o)
	err = tr.run(ctx, view)
	return tr.result(), tr.latency(), err
}

// tracer is one run; one goroutine uses it.
type tracer struct {
	prober     probe.Prober
	target     netip.Addr
	o          measure.Options
	flows      []*flow
	hops       []*hop // by distance - 1
	responders map[netip.Addr]*responder
	pending    map[uint16]*sent
	number     uint16 // of the last probe
	scan       *scan  // nil: none
	scans      int    // of the first round
	sending    int    // index of the hop whose wave is sent
	turn       int    // flow whose probe to the target is next
	round      int64
	nextRound  time.Time
	deadline   time.Time // zero until the last round is over
	probes     int64
	answers    int64
	slowest    time.Duration      // round trip
	rtts       *measure.Histogram // to the target
	front      int                // furthest hop to which every flow is probed
	ended      bool               // the end of a path is among what is known
}

// sent is a probe.
type sent struct {
	number    uint16
	flow, hop int
	at        time.Time
	wave      *wave // nil if it is not part of one
	known     bool  // who answers this flow at this hop was known when it was sent
	spaced    bool  // no probe to the same node in the second before
	unlimited bool  // to a target whose answers are not limited
	answered  bool
	resolved  bool // answered or timed out
}

func newTracer(p probe.Prober, target netip.Addr, o measure.Options) *tracer {
	t := &tracer{
		prober: p, target: target, o: o, pending: map[uint16]*sent{}, rtts: measure.NewHistogram(),
		responders: map[netip.Addr]*responder{}, nextRound: sock.Now(),
	}
	maxHops := probe.OptionsOf(o).MaxHops
	for range o.Flows {
		t.flows = append(t.flows, &flow{cells: make([]cell, maxHops), serial: p.Serial()})
	}
	for i := range maxHops {
		t.hops = append(t.hops, newHop(i+1))
	}
	return t
}

func (t *tracer) run(ctx context.Context, view func(*measure.Trace)) error {
	var nextProbe time.Time
	nextView := t.nextRound.Add(viewEvery)
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		now := sock.Now()
		t.expire(now)
		t.advance(now)
		if t.round < t.o.Count && !now.Before(t.nextRound) && t.roundDone() {
			t.begin(now)
			continue
		}
		if t.finished(now) {
			return nil
		}
		wait := tick
		if !now.Before(nextProbe) {
			s := t.next()
			if s != nil {
				if err := t.send(s); err != nil {
					return err
				}
				nextProbe = sock.Now().Add(gap)
				wait = gap
			}
		} else {
			wait = nextProbe.Sub(now)
		}
		if err := t.prober.Receive(wait, t.take); err != nil {
			return measure.Fail(measure.KindBroken, "trace.receive", measure.Figures{"target": t.target.String(), "cause": err})
		}
		if now = sock.Now(); view != nil && now.After(nextView) {
			view(t.result())
			nextView = now.Add(viewEvery)
		}
	}
}

// begin starts a round: every known hop of every flow is to be probed once.
func (t *tracer) begin(now time.Time) {
	t.round++
	t.nextRound = now.Add(t.o.Interval.Std())
	for _, h := range t.hops {
		h.unprobed = true
	}
	for _, f := range t.flows {
		for i := range t.last(f) {
			f.cells[i].wanted = true
		}
	}
	t.beginScan()
}

// roundDone reports whether the round is complete for the hops that answer immediately.
// Silent hops and those that limit their answers do not delay the next round.
func (t *tracer) roundDone() bool {
	if t.scan != nil {
		return false
	}
	for _, h := range t.asked() {
		if h.answered && !h.limited && (h.wave != nil || len(t.candidates(h)) > 0) {
			return false
		}
	}
	return t.nextToTarget() < 0
}

// finished reports whether the last round is over and every flow is known at every hop, or
// will not become so.
func (t *tracer) finished(now time.Time) bool {
	if t.round < t.o.Count || !t.roundDone() {
		return false
	}
	if t.deadline.IsZero() {
		t.deadline = now.Add(unknownTimeout + time.Duration(len(t.flows))*unknownPerFlow)
	}
	for _, h := range t.asked() {
		if h.wave != nil || len(t.candidates(h)) > 0 {
			return false
		}
	}
	return len(t.pending) == 0
}

// closing reports whether the time to ask for unknown flows is over.
func (t *tracer) closing() bool { return !t.deadline.IsZero() && sock.Now().After(t.deadline) }

// next returns the next probe, nil if none may be sent now.
func (t *tracer) next() *sent {
	if s := t.nextOfScan(); s != nil {
		return s
	}
	for i := range t.hops {
		index := (t.sending + i) % len(t.hops)
		if s := t.nextOfWave(t.hops[index]); s != nil {
			t.sending = index // a wave is sent without others between
			return s
		}
	}
	if i := t.nextToTarget(); i >= 0 {
		t.turn = (i + 1) % len(t.flows)
		return &sent{flow: i, hop: t.flows[i].end, unlimited: true}
	}
	return nil
}

func (t *tracer) send(s *sent) error {
	f, h := t.flows[s.flow], t.hops[s.hop-1]
	c := &f.cells[s.hop-1]
	for range probe.LastNumber { // find one that is not in use
		if t.number++; t.number > probe.LastNumber {
			t.number = probe.FirstNumber
		}
		if _, used := t.pending[t.number]; !used {
			break
		}
	}
	c.wanted = false
	s.number, s.at, s.known = t.number, sock.Now(), c.last.IsValid()
	if err := t.prober.Send(s.flow, s.hop, s.number, 0); err != nil {
		if t.probes == 0 {
			return probe.SendError("trace", t.target, err)
		}
		c.lost++ // the network of this host has changed; that may be temporary
		c.due++
		s.resolved = true
		return nil
	}
	to := h.lastSent
	if s.known {
		r := t.responder(c.last)
		to, r.lastSent = r.lastSent, s.at
	}
	s.spaced = s.at.Sub(to) >= probe.ErrorRefill
	h.lastSent = s.at
	t.probes++
	c.sent++
	c.open++
	f.open++
	t.pending[s.number] = s
	return nil
}

// expire resolves probes whose answer is overdue.
func (t *tracer) expire(now time.Time) {
	for _, s := range t.pending {
		if now.Sub(s.at) >= t.o.Timeout.Std() {
			t.resolve(s)
		}
	}
}

// resolve ends the wait for an answer.
func (t *tracer) resolve(s *sent) {
	delete(t.pending, s.number)
	t.prober.Forget(s.number)
	f := t.flows[s.flow]
	f.open--
	f.cells[s.hop-1].open--
	s.resolved = true
	if s.wave == nil && !s.answered {
		t.countSilence(s)
	}
	if s.wave == nil || s.wave.closed {
		t.account(s)
	}
}

// take processes one answer.
func (t *tracer) take(a probe.Answer) {
	f := t.flows[a.Flow]
	if a.Vague {
		if f.open != 1 {
			f.serial = true
			return
		}
		for number, s := range t.pending {
			if s.flow == a.Flow {
				a.Number = number
			}
		}
	}
	s, ok := t.pending[a.Number]
	if !ok || s.flow != a.Flow || a.Kind == probe.TooBig {
		return
	}
	rtt := max(a.At.Sub(s.at), 0)
	s.answered = true
	t.answers++
	t.slowest = max(t.slowest, rtt)
	t.hops[s.hop-1].answered = true
	t.responder(a.From).answered(s.at)
	f.take(a.Kind, s.hop)
	t.look()
	f.cells[s.hop-1].answer(a, float64(rtt), t.answers)
	if a.Kind == probe.Arrived && s.hop == f.end {
		t.rtts.Record(int64(rtt))
	}
	t.resolve(s)
}
