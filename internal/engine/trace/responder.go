package trace

import (
	"net/netip"
	"time"

	"soku/internal/engine/probe"
)

const (
	// followUp is within what time after a probe without an answer another one must have been
	// sent and answered to show that the limit was not reached.
	followUp = 25 * time.Millisecond
	// unlimitedRate is how many answers a second show that a node has no limit that matters.
	unlimitedRate = 10
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

// withinLimit reports whether no limit kept the node from answering a probe sent at that time:
// it had a token left, or answered another probe right after.
func (r *responder) withinLimit(at time.Time) bool {
	recent := r.recent(at)
	return recent == 0 || recent >= unlimitedRate || r.after(at, followUp) > 0
}

// exceedsLimit reports whether the node answered more probes right after that time than a limit
// allows, so that it had a token for one sent at that time.
func (r *responder) exceedsLimit(at time.Time) bool {
	for n := 2; n <= mostChecks; n++ {
		if r.after(at, time.Duration(n-1)*leastRefill) >= n {
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

// recent returns how many probes of the second before were answered.
func (r *responder) recent(at time.Time) (n int) {
	for _, answered := range r.times {
		if before := at.Sub(answered); before >= 0 && before < probe.ErrorRefill {
			n++
		}
	}
	return n
}

// conclusive reports whether a probe without an answer shows that no known node got it: none
// was kept from answering by a limit. A node seen at another distance by another flow may be
// at this one, too; those of the flow's own path are not, other than a target that is thought
// to be further.
func (t *tracer) conclusive(s *sent) bool {
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
		if !r.withinLimit(s.at) {
			return false
		}
	}
	return true
}
