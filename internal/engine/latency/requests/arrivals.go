package requests

import (
	"math/rand/v2"

	"soku/internal/measure"
)

// arrivals is the schedule of an open loop: requests at a fixed gap, or at random gaps of
// the same mean (a Poisson process). The sender owns it.
type arrivals struct {
	gap    float64 // mean, ns
	random *rand.Rand
	seed   int64
	n      float64 // requests so far, or
	at     float64 // ns of the next
	errors *measure.Histogram
}

func newArrivals(process string, seed int64, gap float64) arrivals {
	a := arrivals{gap: gap, errors: measure.NewHistogram()}
	if process == "poisson" {
		if a.seed = seed; a.seed == 0 {
			a.seed = 1 + rand.Int64N(1<<53-1) // exact in every JSON reader
		}
		a.random = rand.New(rand.NewPCG(uint64(a.seed), 0))
	}
	return a
}

// next returns when the next request is due, in ns since the start.
func (a *arrivals) next() int64 {
	at := a.n * a.gap
	a.n++
	if a.random != nil {
		at = a.at
		a.at += a.random.ExpFloat64() * a.gap
	}
	return int64(at)
}

// left records that a request due at dueNs was sent at nowNs.
func (a *arrivals) left(dueNs, nowNs int64) { a.errors.Record(nowNs - dueNs) }

// result returns nil for a closed loop, which has no schedule.
func (a *arrivals) result() *measure.Arrivals {
	if a.errors == nil {
		return nil
	}
	r := &measure.Arrivals{Process: "fixed", Seed: a.seed, SendError: a.errors, SendErrorNs: *a.errors.Percentiles()}
	if a.random != nil {
		r.Process = "poisson"
	}
	return r
}
