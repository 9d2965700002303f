package option

import (
	"time"

	"soku/internal/measure"
)

// longest is the longest duration of a test, and so the longest that an amount may take.
const longest = 24 * time.Hour

// usualSegment is the payload of a TCP segment on a path with an MTU of 1500 bytes. At a low
// rate a sender writes no less than that in one call.
const usualSegment = 1448

// checkSchedule refuses rates at which a test would not send what it is made of once in its
// time: a datagram, write or burst of each stream, or a request. Other protocols than
// soku's have units of their own.
func checkSchedule(o *measure.Options, _ *Spec) error {
	if o.Rate > 0 && o.Via == ViaSoku {
		if err := checkRate(o); err != nil {
			return err
		}
	}
	if o.RequestRate <= 0 {
		return nil
	}
	if o.Count > 0 {
		if float64(o.Count)/o.RequestRate > longest.Seconds() {
			return measure.Fail(measure.KindUsage, "option.request_rate.amount", measure.Figures{"count": o.Count, "rate_per_second": o.RequestRate, "most_ns": longest})
		}
		return nil
	}
	if length := o.Omit + o.Duration; o.RequestRate*length.Std().Seconds() < 1 {
		return measure.Fail(measure.KindUsage, "option.request_rate.less_than_one", measure.Figures{"rate_per_second": o.RequestRate, "duration_ns": length})
	}
	return nil
}

// Unit is how many bytes all streams together send at once at a rate, at the least: a
// datagram of each, a segment, or a burst. Options are effective.
func Unit(o measure.Options) measure.Size {
	one := o.Size // a datagram
	if one == 0 { // a write
		if one = o.Length; o.Burst == 0 {
			one = min(one, usualSegment)
		}
	}
	return one * measure.Size(max(o.Burst, 1)) * measure.Size(max(o.Streams, 1))
}

func checkRate(o *measure.Options) error {
	unit := Unit(*o)
	if o.Bytes > 0 {
		if o.Burst > 0 && unit > o.Bytes {
			return measure.Fail(measure.KindUsage, "option.burst.bytes", measure.Figures{"burst_packets": o.Burst, "unit_bytes": unit, "bytes": o.Bytes})
		}
		if float64(o.Bytes)*8/float64(o.Rate) > longest.Seconds() {
			return suggest(measure.Fail(measure.KindUsage, "option.rate.amount", measure.Figures{"rate_bps": o.Rate, "bytes": o.Bytes, "most_ns": longest}), o.Rate)
		}
		return nil
	}
	length := o.Omit + o.Duration
	switch {
	case float64(o.Rate)/8*length.Std().Seconds() >= float64(unit):
		return nil
	case o.Burst > 0:
		return measure.Fail(measure.KindUsage, "option.burst.longer", measure.Figures{"rate_bps": o.Rate, "burst_packets": o.Burst, "unit_bytes": unit, "duration_ns": length})
	}
	return suggest(measure.Fail(measure.KindUsage, "option.rate.less_than_one", measure.Figures{"rate_bps": o.Rate, "unit_bytes": unit, "duration_ns": length}), o.Rate)
}

// suggest adds the rate that may have been meant, 100M for 100, to the failure of one that
// looks like a number without its unit.
func suggest(e *measure.Error, r measure.Rate) error {
	if r >= 1000 {
		return e
	}
	return e.WithHintCode("rate_meant", measure.Figures{"meant": measure.FormatDecimal(int64(r) * 1e6)})
}

// CheckMaxRate refuses a limit for the rates of clients under which no test of the usual
// length is possible: less than one datagram of the usual size a second. 0 is no limit.
func CheckMaxRate(r measure.Rate) error {
	least := measure.Rate(usualSegment * 8)
	if r == 0 || r >= least {
		return nil
	}
	return suggest(measure.Fail(measure.KindUsage, "option.max_rate.less_than_one", measure.Figures{"rate_bps": r, "least_bps": least}), r)
}
