package campaign

import (
	"time"

	"soku/internal/measure"
)

// assumedOverhead is what a trial takes beside measuring until this campaign
// has shown it: handshake, facts, the loopback floor, the drain.
const assumedOverhead = 1200 * time.Millisecond

// assumedMTUSearch is what the search for a path MTU takes that is not the interface's.
const assumedMTUSearch = 10 * time.Second

// Estimate is what a part of a campaign will take, before it runs.
type Estimate struct {
	Patterns int           `json:"patterns"`
	Trials   int           `json:"trials"`
	Time     time.Duration `json:"time_ns"`
	// TimeUnknown are labels of tests that end after an amount at an unknown
	// rate; Time then counts only the trials' overhead for them.
	TimeUnknown []string `json:"time_unknown,omitempty"`
	// Bytes is the payload of the tests whose rate or amount is given, in all
	// directions together.
	Bytes int64 `json:"bytes"`
	// BytesUnknown are labels of tests that go as fast as they can.
	BytesUnknown []string `json:"bytes_unknown,omitempty"`
	// MaxBytes is the plan's cap on payload, 0 for none.
	MaxBytes int64 `json:"max_bytes,omitempty"`
	// Price is of Bytes, and MaxPrice of MaxBytes, if the plan has a price; the
	// payload of both directions is counted, though often only one is charged.
	Price    *float64 `json:"egress_price,omitempty"`
	MaxPrice *float64 `json:"egress_price_max,omitempty"`
}

// Estimate adds up the patterns that only selects.
func (p *Plan) Estimate(only Selection) Estimate {
	e := Estimate{MaxBytes: int64(p.MaxBytes)}
	for i := range p.patterns {
		pt := &p.patterns[i]
		if !only.Matches(pt.Levels) {
			continue
		}
		e.Patterns++
		for _, t := range pt.Tests {
			n := p.Rounds * p.Repeats
			e.Trials += n
			length, known := trialTime(t.Test, t.Options)
			e.Time += time.Duration(n) * (length + p.Pause.Std())
			if !known && !contains(e.TimeUnknown, t.Label) {
				e.TimeUnknown = append(e.TimeUnknown, t.Label)
			}
			payload, known := trialBytes(t.Test, t.Options)
			e.Bytes += int64(n) * payload
			if !known && !contains(e.BytesUnknown, t.Label) {
				e.BytesUnknown = append(e.BytesUnknown, t.Label)
			}
		}
	}
	if p.Price > 0 {
		price := func(bytes int64) *float64 { v := float64(bytes) / 1e9 * p.Price; return &v }
		e.Price = price(e.Bytes)
		if p.MaxBytes > 0 {
			e.MaxPrice = price(int64(p.MaxBytes))
		}
	}
	return e
}

// trialTime is how long a trial will take; false if it ends after an amount
// whose rate is not known, and then only the overhead is counted.
func trialTime(test measure.Test, o measure.Options) (time.Duration, bool) {
	seconds := func(amount, rate float64) (time.Duration, bool) {
		if rate <= 0 {
			return assumedOverhead, false
		}
		return assumedOverhead + time.Duration(min(amount/rate, 1e6)*float64(time.Second)), true
	}
	switch {
	case o.Bytes > 0:
		return seconds(float64(o.Bytes)*8, float64(o.Rate))
	case test == measure.TestTrace:
		return assumedOverhead + time.Duration(o.Count)*o.Interval.Std(), true
	case test == measure.TestMTU:
		return assumedOverhead + assumedMTUSearch, true
	case o.Count > 0 && test == measure.TestPing:
		return assumedOverhead + time.Duration(o.Count)*o.Spacing.Std(), true
	case o.Count > 0:
		return seconds(float64(o.Count), o.RequestRate)
	}
	length := assumedOverhead + o.Omit.Std() + o.Duration.Std()
	if o.WithLatency {
		length += 2 * o.IdleProbe().Duration.Std()
	}
	return length, true
}

// trialBytes is the payload a trial moves; false if it goes as fast as it can.
func trialBytes(test measure.Test, o measure.Options) (int64, bool) {
	length := (o.Omit + o.Duration).Std().Seconds()
	switch test {
	case measure.TestTCP, measure.TestUDP:
		flows := int64(len(o.Direction.Flows()))
		switch {
		case o.Bytes > 0:
			return int64(o.Bytes) * flows, true
		case o.Rate > 0:
			return int64(float64(o.Rate)/8*length) * flows, true
		}
	case measure.TestTrace, measure.TestMTU:
		return 0, true // probes are no load worth a price
	case measure.TestPing:
		n := o.Count
		if n == 0 {
			n = int64(length / o.Spacing.Std().Seconds())
		}
		return 2 * n * int64(o.Size), true
	case measure.TestConnect:
		// A connection without a request carries no payload.
		switch {
		case o.Size == 0:
			return 0, true
		case o.Count > 0:
			return 2 * o.Count * int64(o.Size), true
		case o.RequestRate > 0:
			return 2 * int64(o.RequestRate*length) * int64(o.Size), true
		}
	case measure.TestLatency:
		switch {
		case o.Count > 0:
			return 2 * o.Count * int64(o.Size), true
		case o.RequestRate > 0:
			return 2 * int64(o.RequestRate*length) * int64(o.Size), true
		}
	}
	return 0, false
}

// moved is the payload a finished trial carried, as far as its ends counted it.
func moved(r *measure.Result) int64 {
	var n int64
	for _, f := range r.Flows {
		n += max(f.Summary.SentBytes, f.Summary.ReceivedBytes)
	}
	if l := r.Latency; l != nil {
		n += (l.Sent + l.Received) * int64(r.Options.Size)
	}
	return n
}
