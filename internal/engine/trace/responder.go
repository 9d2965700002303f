package trace

import (
	"net/netip"
	"time"
)

const (
	// refill is how long a node that limits its answers needs for one more: Linux answers
	// each host six times at once and then once a second (icmp(7), icmp_ratelimit).
	refill = 980 * time.Millisecond
	// soon is how long after a probe without an answer another one must have been answered
	// to show that the node was able to answer.
	soon = 25 * time.Millisecond
	// brisk is how many answers a second show that a limit is no reason for silence.
	brisk = 10
	// remembered is how many answers of a node are remembered.
	remembered = 512
)

// responder is a node that answered, at whatever hops.
type responder struct {
	lastSent time.Time   // of probes that it was expected to answer
	times    []time.Time // when probes that it answered were sent
}

func (t *tracer) responder(a netip.Addr) *responder {
	r := t.responders[a]
	if r == nil {
		r = &responder{}
		t.responders[a] = r
	}
	return r
}

func (r *responder) answered(at time.Time) {
	if len(r.times) == remembered {
		r.times = r.times[1:]
	}
	r.times = append(r.times, at)
	if at.After(r.lastSent) {
		r.lastSent = at
	}
}

// able reports whether the node would have answered a probe that arrived at that time: it
// had not used up its answers, or answered another one right after.
func (r *responder) able(at time.Time) bool {
	spent := r.spent(at)
	return spent == 0 || spent >= brisk || r.after(at, soon) > 0
}

// owed reports whether the node had answers left for a probe sent at that time: after it, it
// answered more probes in a short time than a limit would have let it.
func (r *responder) owed(at time.Time) bool {
	for n := 2; n <= mostChecks; n++ {
		if r.after(at, time.Duration(n-1)*quick) >= n {
			return true
		}
	}
	return false
}

// after returns how many probes sent up to that long after a time were answered.
func (r *responder) after(at time.Time, within time.Duration) (n int) {
	for _, answered := range r.times {
		if after := answered.Sub(at); after > 0 && after <= within {
			n++
		}
	}
	return n
}

// spent returns how many probes of the second before were answered.
func (r *responder) spent(at time.Time) (n int) {
	for _, answered := range r.times {
		if before := at.Sub(answered); before >= 0 && before < refill {
			n++
		}
	}
	return n
}

// telling reports whether the silence about a probe shows that no known node got it: each was
// able to answer. A node seen at another distance by another flow may be at this one, too;
// those of the flow's own path are not, other than a target that is thought to be further.
func (t *tracer) telling(s *sent) bool {
	f := t.flows[s.flow]
	target := t.target.WithZone("")
	for address, r := range t.responders {
		switch {
		case address == target:
			if !t.limitsAtTarget() || s.hop <= f.expired {
				continue
			}
		case f.passes(address):
			continue
		}
		if !r.able(s.at) {
			return false
		}
	}
	return true
}
