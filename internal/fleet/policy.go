package fleet

import (
	"slices"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
)

// smallMessage is the size in bytes of the largest message that counts as no load where each waits for the reply to
// the one before.
const smallMessage = 1500

// longestInterval bounds the time between two reports of a trial where the bytes of a day are limited:
// what a trial moves in one interval is beyond the limit.
const longestInterval = 10 * time.Second

// Check refuses a test that is not allowed, or is longer or faster than allowed with its effective options. One of which only its end
// shows how long it takes is cut off then by the agent. An error has kind refused, or usage for a test that is not known.
func (p Policy) Check(test measure.Test, o measure.Options) error {
	spec := option.SpecOf(test)
	switch {
	case spec == nil:
		return measure.Fail(measure.KindUsage, "daemon.order.test", measure.Figures{"test": test})
	case len(p.Tests) > 0 && !slices.Contains(p.Tests, test):
		return measure.Fail(measure.KindRefused, "daemon.policy.test", measure.Figures{"test": test, "tests": p.Tests})
	case test == measure.TestCopy && !p.Copies:
		return measure.Fail(measure.KindRefused, "daemon.policy.copies", nil)
	}
	length, known := spec.Length(o)
	if known && p.Duration > 0 && length > p.Duration {
		return measure.Fail(measure.KindRefused, "daemon.policy.duration", measure.Figures{"duration_ns": int64(length), "limit_ns": int64(p.Duration)})
	}
	payload, bounded := spec.Payload(o)
	if moves := payload > 0 || !bounded; moves && p.BytesPerDay > 0 && o.Interval.Std() > longestInterval {
		return measure.Fail(measure.KindRefused, "daemon.policy.interval", measure.Figures{"interval_ns": int64(o.Interval), "limit_ns": int64(longestInterval)})
	}
	if p.RateBps <= 0 {
		return nil
	}
	rate := o.Rate
	if !spec.Has("rate") {
		switch {
		case bounded && known && length > 0:
			rate = max(1, measure.Rate(float64(payload)*8/length.Std().Seconds()))
		case o.Size <= smallMessage: // one after the other
			return nil
		}
	}
	if rate <= 0 || int64(rate) > p.RateBps {
		return measure.Fail(measure.KindRefused, "daemon.policy.rate", measure.Figures{"rate_bps": int64(rate), "limit_bps": p.RateBps})
	}
	return nil
}
