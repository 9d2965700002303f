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
	// window is how many probes a flow has outstanding until its target is found: all but
	// one may turn out to be beyond the target, and a target answers only a few a second.
	// After silent hops it is wideWindow, because waiting for each would take long.
	window, wideWindow = 2, 6
	// firstSilence and laterSilence are how many hops beyond the last answer a flow
	// probes, in the first round and in later ones.
	firstSilence, laterSilence = 10, 4
	// viewEvery is the time between two calls of view.
	viewEvery = 200 * time.Millisecond
)

// Run traces the path to target in o.Count rounds, o.Interval apart, with o.Flows flows;
// the hops of a round are probed one after the other, at most 250 a second. o is
// effective. view, which may be nil, is called with what is known so far up to five times
// a second, and must return within a few milliseconds. latency has the round trips to the
// target.
//
// A target that never answers is not an error. Errors are those of [probe.Open], of
// [measure.KindBroken] if the system stops sending or receiving, or the cause of ctx,
// whose end is noticed within 100 ms. What was found until then is returned with the
// error; t is nil if there is nothing.
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
	prober  probe.Prober
	target  netip.Addr
	o       measure.Options
	start   time.Time
	flows   []*flow
	pending map[uint16]sent
	number  uint16 // of the last probe
	turn    int    // flow that sends next
	round   int64
	probes  int64
	answers int64
	rtts    *measure.Histogram // to the target
}

// sent is an outstanding probe.
type sent struct {
	flow, hop int
	at        time.Time
}

// flow is the state of one flow.
type flow struct {
	cells    []cell // by hop - 1
	next     int    // hop of the next probe of this round
	answered int    // furthest hop that answered
	end      int    // hop at which the target answered, or where the path ends; 0: unknown
	reached  bool   // the target answered
	open     int    // outstanding probes
	serial   bool   // one probe at a time, to match its answer
}

func newTracer(p probe.Prober, target netip.Addr, o measure.Options) *tracer {
	t := &tracer{prober: p, target: target, o: o, pending: map[uint16]sent{}, rtts: measure.NewHistogram(), start: sock.Now()}
	for range o.Flows {
		t.flows = append(t.flows, &flow{cells: make([]cell, probe.OptionsOf(o).MaxHops), serial: p.Serial()})
	}
	return t
}

func (t *tracer) run(ctx context.Context, view func(*measure.Trace)) error {
	var nextProbe time.Time
	nextRound := t.start
	nextView := t.start.Add(viewEvery)
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		now := sock.Now()
		t.expire(now)
		f, hop := t.due()
		if f < 0 && t.roundDone() && !now.Before(nextRound) && t.round < t.o.Count {
			t.begin()
			nextRound = now.Add(t.o.Interval.Std())
			continue
		}
		if f < 0 && t.round >= t.o.Count && len(t.pending) == 0 && t.roundDone() {
			return nil
		}
		wait := min(tick, nextRound.Sub(now))
		if f >= 0 {
			if !now.Before(nextProbe) {
				if err := t.send(f, hop); err != nil {
					return err
				}
				nextProbe = sock.Now().Add(gap)
			}
			wait = nextProbe.Sub(sock.Now())
		} else if t.round >= t.o.Count || wait <= 0 {
			wait = tick
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

// begin starts a round.
func (t *tracer) begin() {
	t.round++
	for _, f := range t.flows {
		f.next = 1
	}
}

// last returns the furthest hop that a flow probes in this round, from what is known now.
func (t *tracer) last(f *flow) int {
	if f.end > 0 {
		return f.end
	}
	silence := laterSilence
	if t.round <= 1 {
		silence = firstSilence
	}
	return min(len(f.cells), f.answered+silence)
}

// due returns the next flow that may send, in turn, and the hop; -1 if none may now.
func (t *tracer) due() (index, hop int) {
	for i := range t.flows {
		index = (t.turn + i) % len(t.flows)
		f := t.flows[index]
		if f.next == 0 || f.next > t.last(f) || f.serial && f.open > 0 || f.end == 0 && f.open >= f.window() {
			continue
		}
		return index, f.next
	}
	return -1, 0
}

func (f *flow) window() int {
	if f.next-f.answered > window+1 {
		return wideWindow
	}
	return window
}

// roundDone reports whether every flow has probed all its hops, and no outstanding answer
// can add more.
func (t *tracer) roundDone() bool {
	for _, f := range t.flows {
		if f.next != 0 && f.next <= t.last(f) || f.end == 0 && f.open > 0 {
			return false
		}
	}
	return true
}

func (t *tracer) send(index, hop int) error {
	f := t.flows[index]
	for range probe.LastNumber { // find one that is not in use
		if t.number++; t.number > probe.LastNumber {
			t.number = probe.FirstNumber
		}
		if _, used := t.pending[t.number]; !used {
			break
		}
	}
	f.next++
	t.turn = (index + 1) % len(t.flows)
	at := sock.Now()
	if err := t.prober.Send(index, hop, t.number, 0); err != nil {
		if t.probes == 0 {
			return probe.SendError("trace", t.target, err)
		}
		f.cells[hop-1].lost++ // the network of this host has changed; that may be temporary
		return nil
	}
	t.probes++
	f.open++
	t.pending[t.number] = sent{index, hop, at}
	return nil
}

// expire counts probes without an answer in time as lost.
func (t *tracer) expire(now time.Time) {
	for number, s := range t.pending {
		if now.Sub(s.at) < t.o.Timeout.Std() {
			continue
		}
		t.forget(number, s)
		t.flows[s.flow].cells[s.hop-1].lost++
	}
}

func (t *tracer) forget(number uint16, s sent) {
	delete(t.pending, number)
	t.prober.Forget(number)
	t.flows[s.flow].open--
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
	t.forget(a.Number, s)
	rtt := float64(max(a.At.Sub(s.at), 0))
	t.answers++
	f.cells[s.hop-1].answer(a, rtt, t.answers)
	f.answered = max(f.answered, s.hop)
	switch {
	case a.Kind == probe.Expired && s.hop == f.end:
		f.end, f.reached = 0, false // the path has become longer
	case a.Kind != probe.Expired && (f.end == 0 || s.hop < f.end):
		f.end, f.reached = s.hop, a.Kind == probe.Arrived
	}
	if a.Kind == probe.Arrived && s.hop == f.end {
		t.rtts.Record(int64(rtt))
	}
}
