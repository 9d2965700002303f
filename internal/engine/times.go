package engine

import (
	"time"

	"soku/internal/measure"
)

// Timed reports whether a flow ends after a time; otherwise it ends after o.Bytes, or when
// the protocol says so.
func Timed(o measure.Options) bool { return o.Bytes <= 0 && o.Duration > 0 }

// Nominal is how long the sender of a timed flow sends.
func Nominal(o measure.Options) time.Duration { return o.Omit.Std() + o.Duration.Std() }

// Lull is how long a sender at o.Rate may be silent: twice the time of what it sends back
// to back, bytes in all. Without a rate it is never silent: 0.
func Lull(o measure.Options, bytes float64) time.Duration {
	if o.Rate <= 0 {
		return 0
	}
	return time.Duration(min(2*bytes*8e9/float64(o.Rate), float64(24*time.Hour)))
}

// Grace is how long after its nominal end the receiver of a timed flow still reads.
func (p FlowPolicy) Grace(o measure.Options) time.Duration {
	if p.KeepOpen {
		return 0
	}
	return min(2*time.Second, max(500*time.Millisecond, o.Duration.Std()/5))
}

// Timeouts are how long an end of a flow waits: for the first byte, and for the next ones.
type Timeouts struct{ First, Idle time.Duration }

// With is t as the policy's timeout for silence changes it.
func (t Timeouts) With(p FlowPolicy, role measure.Role) Timeouts {
	switch {
	case p.SilenceTimeout <= 0:
	case role == measure.Receiver:
		t.First, t.Idle = p.SilenceTimeout, p.SilenceTimeout
	default:
		t.Idle = max(t.Idle, p.SilenceTimeout)
	}
	return t
}
