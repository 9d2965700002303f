package trace

import (
	"slices"

	"soku/internal/engine/probe"
	"soku/internal/measure"
)

// result returns what is known now.
func (t *tracer) result() *measure.Trace {
	timing := t.prober.Timing()
	out := &measure.Trace{
		Probe: probe.OptionsOf(t.o).Probe, Timing: &timing, Port: t.o.Port,
		Rounds: t.round, Sent: t.probes, Foreign: t.prober.Foreign(), Hops: []measure.TraceHop{},
	}
	shown := t.shown()
	for i, f := range t.flows {
		flow := measure.TraceFlow{Index: i, Port: t.prober.Port(i), Reached: f.reached, Uncertain: !f.certain(), Path: []string{}}
		for hop := 1; hop <= f.answered(); hop++ {
			address := ""
			if a := f.cells[hop-1].last; a.IsValid() {
				address = a.String()
			}
			flow.Path = append(flow.Path, address)
		}
		out.Flows = append(out.Flows, flow)
		out.Reached = out.Reached || f.reached
		for hop := 1; hop <= t.last(f); hop++ {
			if t.unknown(f, hop) {
				out.Outstanding++
			}
		}
	}
	for distance := 1; distance <= slices.Max(shown); distance++ {
		cells := make([]*cell, len(t.flows))
		for i, f := range t.flows {
			if distance <= shown[i] {
				cells[i] = t.counted(f, distance)
			}
		}
		at := merged(distance, cells)
		at.Limit = t.hops[distance-1].limits()
		out.Hops = append(out.Hops, at)
	}
	return out
}

// shown returns how many hops of each flow are shown. The target is not shown behind hops
// that it may be at, unless there is no flow whose end is certain; then it is shown where it
// answered nearest.
func (t *tracer) shown() []int {
	hops := make([]int, len(t.flows))
	certain, nearest := false, 0
	for i, f := range t.flows {
		switch {
		case f.certain():
			hops[i] = f.answered()
			certain = certain || f.end > 0
		default:
			hops[i] = f.expired
			if nearest == 0 || f.end < nearest {
				nearest = f.end
			}
		}
	}
	for i, f := range t.flows {
		if !certain && nearest > 0 && f.end == nearest {
			hops[i] = nearest
		}
	}
	return hops
}

// counted returns a cell with its figures. A target that limits no answers owes them all.
func (t *tracer) counted(f *flow, hop int) *cell {
	c := f.cells[hop-1]
	if t.toTarget(f, hop) {
		c.lost += c.unanswered
		c.due = c.lost + c.received()
		c.unanswered = 0
	}
	return &c
}

// latency returns the round trips to the target, or nil if it never answered.
func (t *tracer) latency() *measure.Latency {
	if t.rtts.Count() == 0 {
		return nil
	}
	timing := t.prober.Timing()
	timing.Loop = measure.LoopHops
	l := &measure.Latency{Timing: &timing, Histogram: t.rtts, Received: t.rtts.Count()}
	for _, f := range t.flows {
		if f.reached {
			l.Lost += t.counted(f, f.end).lost
		}
	}
	l.Sent = l.Lost + l.Received
	return l
}
