package agent

import (
	"context"
	"time"
)

// Start is what is known of the start of a trial on another host or in another process.
type Start struct {
	Ordered  time.Time     // when the order to start was sent
	Reported time.Time     // when the report of the start arrived
	Delay    time.Duration // from when the order was read there to the start
	UnixNs   int64         // of the start, on the clock there; 0: it is not known
	Before   Clock         // compared before the order; the zero value: never
	After    Clock         // compared after the report
}

// againWithin is how long the second comparison of clocks may take.
const againWithin = 3 * time.Second

// CompareAgain compares the clocks a second time, for at most 3 s. A host that does not answer leaves it out.
func (s *Start) CompareAgain(ctx context.Context, compare func(context.Context) (Clock, error)) {
	ctx, cancel := context.WithTimeout(ctx, againWithin)
	defer cancel()
	if c, err := compare(ctx); err == nil {
		s.After = c
	}
}

// At is when the trial started, on the clock of this process, known within ± uncertainty. A host cannot claim a start before
// its order or after its report.
func (s Start) At() (at time.Time, uncertainty time.Duration) {
	at, uncertainty = s.byTrip()
	if s.UnixNs == 0 || s.Before.At.IsZero() {
		return at, uncertainty
	}
	stamped, within := s.Before.Here(s.After, s.UnixNs)
	switch {
	case within >= uncertainty, stamped.Add(within).Before(s.Ordered), stamped.Add(-within).After(s.Reported):
		return at, uncertainty
	case stamped.Before(s.Ordered):
		stamped = s.Ordered
	case stamped.After(s.Reported):
		stamped = s.Reported
	}
	return stamped, within
}

// byTrip is when it started by the way of the order and the report: both took what was left of the time between them, half
// of it each, or anything between none and all, hence the uncertainty.
func (s Start) byTrip() (at time.Time, uncertainty time.Duration) {
	passed := max(s.Reported.Sub(s.Ordered), 0)
	delay := min(max(s.Delay, 0), passed)
	uncertainty = (passed - delay) / 2
	return s.Ordered.Add(delay + uncertainty), uncertainty
}
