// Package pace keeps a send schedule against absolute time, so that a late send does not
// delay the next ones: the long-run rate is exact, and missed sends are made up for in
// bounded bursts. A [Budget] limits what the loops of a test move together. It knows no sockets and starts no goroutines. docs/method.md specifies
// the schedule.
package pace

import "time"

// catchUp is the factor on the rate while missed units are made up for.
const catchUp = 2

// CoarseBurst is the burst of a schedule that waits with [Waiter.Wait].
const CoarseBurst = 10 * time.Millisecond

// FineBurst is the burst of a schedule that waits with [Waiter.WaitFine].
const FineBurst = 5 * time.Millisecond

// burstMost limits how many units are due together, at any rate.
const burstMost = 8192

// Schedule gives out equal units (a datagram, a write) that are due at start, start+gap,
// start+2*gap and so on. It is for one goroutine.
type Schedule struct {
	start  time.Time
	gap    float64 // ns
	done   int64
	burst  float64 // most tokens
	tokens float64 // how many units may be sent, if due; grows at catchUp times the rate
	at     time.Time
}

// NewSchedule returns a schedule of bitsPerSecond in units of unitBytes. bitsPerSecond
// must be greater than 0. burst limits how many units are due together, at least one:
// [CoarseBurst] or [FineBurst]. Waits that end late by less than burst do not lower the
// rate.
func NewSchedule(start time.Time, unitBytes int, bitsPerSecond float64, burst time.Duration) *Schedule {
	s := &Schedule{start: start, gap: float64(unitBytes) * 8e9 / bitsPerSecond, tokens: 1, at: start}
	s.burst = min(max(float64(burst)/s.gap, 1), burstMost)
	return s
}

// Ready says when its goroutine is ready to send: units that were due before are made up for at
// twice the rate, without a burst.
func (s *Schedule) Ready(at time.Time) {
	if at.After(s.at) {
		s.at = at
	}
}

// Gap returns the time from one unit to the next.
func (s *Schedule) Gap() time.Duration { return clip(s.gap) }

// Take returns how many units to send now, which count as sent; or 0 and how long to
// wait. After one burst, late units come at most at twice the rate, so that a pause of
// this host does not flood the path.
func (s *Schedule) Take(now time.Time) (units int64, wait time.Duration) {
	passed := float64(now.Sub(s.start))
	next := float64(s.done) * s.gap
	if passed < next {
		return 0, clip(next-passed) + 1
	}
	if d := now.Sub(s.at); d > 0 {
		s.tokens = min(s.tokens+float64(d)*catchUp/s.gap, s.burst)
		s.at = now
	}
	if s.tokens < 1 {
		return 0, clip((1-s.tokens)*s.gap/catchUp) + 1
	}
	due := min((passed-next)/s.gap+1, s.tokens)
	units = int64(due)
	s.done += units
	s.tokens -= float64(units)
	return units, 0
}

// Next waits, using wait, until units are due, and returns how many may be sent now. It returns 0
// if wait ends early, or after stop unless that is zero. The times are those of now.
func (s *Schedule) Next(now func() time.Time, stop time.Time, wait func(time.Duration) bool) int64 {
	for {
		at := now()
		units, d := s.Take(at)
		if units > 0 {
			return units
		}
		if !stop.IsZero() {
			d = min(d, stop.Sub(at))
		}
		if d <= 0 || !wait(d) {
			return 0
		}
	}
}

// clip converts ns to a Duration of at most a day. Only gaps of less than a bit an hour
// are longer.
func clip(ns float64) time.Duration { return time.Duration(min(ns, float64(24*time.Hour))) }
