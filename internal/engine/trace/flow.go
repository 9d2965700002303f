package trace

import (
	"net/netip"
	"slices"

	"soku/internal/engine/probe"
)

// flow is the state of one flow.
type flow struct {
	cells   []cell // by hop - 1
	expired int    // furthest hop at which a node on the path answered
	end     int    // smallest hop at which the target answered, or where the path ends; 0: unknown
	reached bool   // the target answered
	open    int    // outstanding probes
	serial  bool   // one probe at a time, to match its answer
}

// take notes where the path goes on and where it ends.
func (f *flow) take(kind probe.Kind, hop int) {
	switch {
	case kind == probe.Expired:
		f.expired = max(f.expired, hop)
		if f.end > 0 && hop >= f.end {
			f.end, f.reached = 0, false // the path has become longer
		}
	case f.end == 0 || hop < f.end:
		f.end, f.reached = hop, kind == probe.Arrived
		f.expired = min(f.expired, hop-1)
	}
}

// passes reports whether an address is known to be on the path.
func (f *flow) passes(a netip.Addr) bool {
	return slices.ContainsFunc(f.cells, func(c cell) bool { return c.last == a })
}

// answered returns the furthest hop of the path that answered.
func (f *flow) answered() int { return max(f.end, f.expired) }

// certain reports whether the end of the flow is where it is shown: every hop before it
// was seen, or is one that stays silent where the target would have answered.
func (f *flow) certain() bool {
	for i := range max(f.end-1, 0) {
		if c := &f.cells[i]; i >= f.expired && !c.last.IsValid() && !c.silent {
			return false
		}
	}
	return true
}

// look finds how far every flow is to be probed.
func (t *tracer) look() {
	t.front, t.ended = 0, false
	furthest := 0
	for _, f := range t.flows {
		t.front, furthest = max(t.front, f.end), max(furthest, f.expired)
	}
	if t.ended = t.front > 0; !t.ended {
		t.front = furthest
	}
}

// last returns the furthest hop that a flow probes, from what is known now.
func (t *tracer) last(f *flow) int {
	if f.end > 0 {
		return f.end
	}
	last := t.front
	if t.ended {
		last = max(last, f.expired+1) // a longer path than that of others
	}
	return min(len(f.cells), last)
}

// unknown reports whether a flow is still to be asked who answers at a hop.
func (t *tracer) unknown(f *flow, hop int) bool {
	c := &f.cells[hop-1]
	return !c.last.IsValid() && !c.silent && hop <= t.last(f)
}

// mayBeTarget reports whether a probe of the flow with this hop limit may arrive at a
// target that limits its answers. Hops where another flow saw a router, and never the
// target, are taken for routers.
func (t *tracer) mayBeTarget(f *flow, hop int) bool {
	if !t.limitsAtTarget() || hop <= f.expired {
		return false
	}
	router := false
	for _, other := range t.flows {
		if other.reached && other.end == hop {
			return true
		}
		router = router || other.cells[hop-1].last.IsValid() && other.expired >= hop
	}
	return !router
}

// limitsAtTarget reports whether the target answers with ICMP errors, whose rate hosts
// limit, rather than with segments or echo replies.
func (t *tracer) limitsAtTarget() bool { return probe.OptionsOf(t.o).Probe == "udp" }

// first reports whether no nearer hop of the flow is unknown that may be the target. The
// target answers only some probes, so they go to where it may be nearest.
func (t *tracer) first(f *flow, hop int) bool {
	if !t.mayBeTarget(f, hop) {
		return true
	}
	for nearer := f.expired + 1; nearer < hop; nearer++ {
		if t.unknown(f, nearer) && t.mayBeTarget(f, nearer) {
			return false
		}
	}
	return true
}

// nextToTarget returns the next flow with a probe to a target that does not limit its
// answers, -1 if there is none.
func (t *tracer) nextToTarget() int {
	for i := range t.flows {
		index := (t.turn + i) % len(t.flows)
		if f := t.flows[index]; t.toTarget(f, f.end) && f.cells[f.end-1].wanted && (!f.serial || f.open == 0) {
			return index
		}
	}
	return -1
}

// toTarget reports whether the flow reaches at this hop a target that does not limit its
// answers.
func (t *tracer) toTarget(f *flow, hop int) bool {
	return f.reached && hop == f.end && !t.limitsAtTarget()
}
