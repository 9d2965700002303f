// Package pace keeps a send schedule against absolute time, so that a late
// send does not make the next ones late: the long-run rate is exact, and what
// was missed is made up for in bounded bursts. It knows no sockets and starts
// no goroutines. docs/method.md specifies the schedule.
package pace

import "time"

// catchUp is how much faster than the rate missed units are made up for.
const catchUp = 2

// CoarseBurst is the burst of a schedule whose waits are those of [Waiter.Wait].
// A schedule holds its rate while waits end late by no more than half its burst.
const CoarseBurst = 5 * time.Millisecond

// burstMost bounds how many units are handed out at once, whatever the rate.
const burstMost = 4096

// Schedule hands out equal units (a datagram, a write) that are due at
// start, start+gap, start+2*gap and so on. It is for one goroutine.
type Schedule struct {
	start     time.Time
	gap       float64 // ns
	burst     int64
	done      int64
	notBefore time.Time
}

// NewSchedule returns a schedule of bitsPerSecond in units of unitBytes.
// bitsPerSecond must be greater than 0. At most burst of the schedule, but at
// least one unit, is handed out at once: [CoarseBurst] or [FineBurst].
func NewSchedule(start time.Time, unitBytes int, bitsPerSecond float64, burst time.Duration) *Schedule {
	s := &Schedule{start: start, gap: float64(unitBytes) * 8e9 / bitsPerSecond}
	s.burst = int64(min(max(float64(burst)/s.gap, 1), burstMost))
	return s
}

// Gap is the time from one unit to the next.
func (s *Schedule) Gap() time.Duration { return clip(s.gap) }

// Take returns how many units to send now, which count as sent; or 0 and how
// long nothing is to be sent. Units that are late come at most at twice the
// rate, so that a pause of this host does not become a burst on the path.
func (s *Schedule) Take(now time.Time) (units int64, wait time.Duration) {
	if d := s.notBefore.Sub(now); d > 0 {
		return 0, d
	}
	passed := float64(now.Sub(s.start))
	next := float64(s.done) * s.gap
	if passed < next {
		return 0, clip(next-passed) + 1
	}
	due := int64(min((passed-next)/s.gap, burstMost)) + 1
	units = min(due, s.burst)
	s.done += units
	s.notBefore = now.Add(clip(float64(units) * s.gap / catchUp))
	return units, 0
}

// clip turns ns into a Duration of at most a day, which no gap below a bit an
// hour exceeds.
func clip(ns float64) time.Duration { return time.Duration(min(ns, float64(24*time.Hour))) }
