package schedule

import (
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
)

// assumedOverhead is the time of a trial in addition to its measurement, until this campaign
// has measured it: handshake, facts, the loopback floor, the drain. Trials over loopback
// took 0.05 s (tcp) to 0.35 s (latency, connect) of it; each round trip of a long path adds.
const assumedOverhead = 300 * time.Millisecond

// TrialTime is how long a trial will take; false if it ends after an amount
// whose rate is not known, and then only the overhead is counted.
func TrialTime(test measure.Test, o measure.Options) (time.Duration, bool) {
	length, known := option.SpecOf(test).Length(o)
	return assumedOverhead + length.Std(), known
}

// TrialBytes returns the payload that a trial moves, or false if it goes as fast as it can.
func TrialBytes(test measure.Test, o measure.Options) (int64, bool) {
	return option.SpecOf(test).Payload(o)
}
