package trace

import (
	"soku/internal/engine/probe"
	"soku/internal/measure"
)

// result returns what is known now.
func (t *tracer) result() *measure.Trace {
	timing := t.prober.Timing()
	out := &measure.Trace{
		Probe: probe.OptionsOf(t.o).Probe, Timing: &timing, Port: t.o.Port,
		Rounds: t.round, Sent: t.probes, Foreign: t.prober.Foreign(),
	}
	longest := 0
	for i, f := range t.flows {
		flow := measure.TraceFlow{Index: i, Port: t.prober.Port(i), Reached: f.reached, Path: []string{}}
		for hop := 1; hop <= f.length(); hop++ {
			address := ""
			if a := f.cells[hop-1].last; a.IsValid() {
				address = a.String()
			}
			flow.Path = append(flow.Path, address)
		}
		out.Flows = append(out.Flows, flow)
		out.Reached = out.Reached || f.reached
		longest = max(longest, f.length())
	}
	out.Hops = []measure.TraceHop{}
	for distance := 1; distance <= longest; distance++ {
		cells := make([]*cell, len(t.flows))
		for i, f := range t.flows {
			if distance <= f.length() {
				cells[i] = &f.cells[distance-1]
			}
		}
		out.Hops = append(out.Hops, hop(distance, cells))
	}
	return out
}

// length returns how many hops of a flow are known: to its end, or to the last that
// answered.
func (f *flow) length() int {
	if f.end > 0 {
		return f.end
	}
	return f.answered
}

// latency returns the round trips to the target, or nil if it never answered.
func (t *tracer) latency() *measure.Latency {
	if t.rtts.Count() == 0 {
		return nil
	}
	timing := t.prober.Timing()
	timing.Loop = measure.LoopHops
	l := &measure.Latency{Timing: &timing, Histogram: t.rtts}
	for _, f := range t.flows {
		if f.reached {
			c := f.cells[f.end-1]
			l.Lost += c.lost
			l.Received += c.received()
		}
	}
	l.Sent = l.Lost + l.Received
	return l
}
