package tests

import (
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/text"
)

// The baseline of a long ping was measured before it: the summary says how long ago.
func TestTheSummaryOfALongPingHasTheAgeOfItsBaseline(t *testing.T) {
	for age, want := range map[time.Duration]string{0: "(loopback median)", 7 * time.Minute: "(loopback median, measured 7m0s before the end of the test)"} {
		l := &measure.Latency{Histogram: measure.NewHistogram(), Sent: 1, Received: 1, Floor: &measure.FloorReading{RTT: measure.Percentiles{P50: 31_000}, AgeNs: int64(age)}}
		var lines text.Lines
		latencySummary(&lines, &measure.Result{Test: measure.TestPing, Latency: l})
		if got := wordsOf(lines); !strings.Contains(got, want) {
			t.Errorf("%s: no %q in %s", age, want, got)
		}
	}
}
