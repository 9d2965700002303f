package agent

import (
	"context"
	"time"
)

// Clock compares a clock with that of this machine, at one moment.
type Clock struct {
	Offset      time.Duration // positive if the other clock is ahead
	Uncertainty time.Duration // half of the shortest round trip
	At          time.Time     // when they were compared, on this machine; zero: never
}

// ClockRequests is how many round trips compare the clocks.
const ClockRequests = 8

// CompareClocks compares the clock of a host with that of this machine. ask returns what the host's clock shows, in ns since
// 1970, and its error ends the comparison.
func CompareClocks(ask func() (unixNs int64, err error)) (Clock, error) {
	best := Clock{Uncertainty: time.Hour}
	for range ClockRequests {
		begin := time.Now()
		unixNs, err := ask()
		if err != nil {
			return best, err
		}
		if half := time.Since(begin) / 2; half < best.Uncertainty {
			at := begin.Add(half)
			best = Clock{time.Unix(0, unixNs).Sub(at.Round(0)), half, at}
		}
	}
	return best, nil
}

// SameClock is the comparison with the clock of a process on this machine.
func SameClock(context.Context) (Clock, error) { return Clock{At: time.Now()}, nil }

// There is what the other clock shows at an instant of this machine, in ns since 1970.
func (c Clock) There(at time.Time) int64 { return at.Add(c.Offset).UnixNano() }

// Rates at which two clocks drift apart, in parts of the time.
const (
	usualDrift   = 1e-4 // of clocks that are not compared a second time
	steppedDrift = 1e-3 // a clock that drifts more was set
)

// Here is the instant of this machine at which the other clock showed unixNs. The clocks were compared before, with the
// result c, and after: the drift between is taken as constant. after may be zero. The monotonic clock of this machine counts, so that
// setting its clock meanwhile changes nothing.
func (c Clock) Here(after Clock, unixNs int64) (at time.Time, uncertainty time.Duration) {
	passed := time.Unix(0, unixNs).Sub(c.At.Round(0).Add(c.Offset))
	at = c.At.Add(passed)
	span := after.At.Sub(c.At)
	if after.At.IsZero() || span <= 0 {
		return at, c.Uncertainty + part(passed.Abs(), usualDrift)
	}
	// How much further than this machine's clock the other one went.
	drift := after.At.Round(0).Add(after.Offset).Sub(c.At.Round(0).Add(c.Offset)) - span
	share := min(max(float64(passed)/float64(span), 0), 1)
	uncertainty = c.Uncertainty + part(after.Uncertainty-c.Uncertainty, share)
	if drift.Abs() > part(span, steppedDrift)+c.Uncertainty+after.Uncertainty {
		return at, uncertainty + drift.Abs()
	}
	return at.Add(-part(drift, share)), uncertainty
}

func part(of time.Duration, share float64) time.Duration {
	return time.Duration(float64(of) * share)
}
