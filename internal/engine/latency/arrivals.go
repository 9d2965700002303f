package latency

import (
	"math/rand/v2"

	"soku/internal/measure"
)

// arrivals is the schedule of an open loop: requests at a fixed gap, or at
// random ones of the same mean (a Poisson process). It belongs to the sender.
type arrivals struct {
	gap    float64 // mean, ns
	random *rand.Rand
	seed   int64
	n      float64 // requests so far, or
	at     float64 // ns of the next
	errors *measure.Histogram
}

func newArrivals(o measure.Options, gap float64) arrivals {
	a := arrivals{gap: gap, errors: measure.NewHistogram()}
	if o.Arrivals == "poisson" {
		if a.seed = o.Seed; a.seed == 0 {
			a.seed = 1 + rand.Int64N(1<<53-1) // what every reader of JSON can hold
		}
		a.random = rand.New(rand.NewPCG(uint64(a.seed), 0))
	}
	return a
}

// next is when the next request is due, ns since the start.
func (a *arrivals) next() int64 {
	at := a.n * a.gap
	a.n++
	if a.random != nil {
		at = a.at
		a.at += a.random.ExpFloat64() * a.gap
	}
	return int64(at)
}

// left records that a request due at a time left now.
func (a *arrivals) left(dueNs, nowNs int64) { a.errors.Record(nowNs - dueNs) }

// result is nil for a closed loop, which has no schedule.
func (a *arrivals) result(o measure.Options) *measure.Arrivals {
	if a.errors == nil {
		return nil
	}
	r := &measure.Arrivals{Process: "fixed", Seed: a.seed, SendError: a.errors, SendErrorNs: *a.errors.Percentiles()}
	if a.random != nil {
		r.Process = o.Arrivals
	}
	return r
}
