package measure

import (
	"math"
	"time"
)

// JSONValues is the largest number of values in a JSON text, without decoding it: objects, lists,
// their members and elements, down to levels of nesting, or to any depth if levels is 0. A decoder
// may take a hundred times the memory of a value of three bytes.
func JSONValues(text []byte, levels int) int {
	n, depth, quoted := 1, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; levels == 0 || depth <= levels {
				n++
			}
		case c == '}' || c == ']':
			depth--
		case c == ',' && (levels == 0 || depth <= levels):
			n++
		}
	}
	return n
}

const (
	anyValues    = 300_000 // facts, findings, histograms, 10,000 rows and 1,000 points of round trips
	sampleValues = 40      // of a sample with what the kernel knows of the connection
	// leastTick is the shortest time between two samples.
	leastTick = 100 * time.Millisecond
)

// MostValues is how many values the other end's document of a trial can have as JSON, see
// [JSONValues], where the trial has run for so long on this host's clock: there is one sample a
// stream and live interval, one a direction every 100 ms, and the [Series] of both hosts.
func MostValues(o Options, ran time.Duration) int {
	samples := func(every time.Duration) float64 { return 4 + float64(max(ran, 0)/max(every, leastTick)) }
	streams := float64(max(o.Streams, o.Flows, 1))
	series := 0.0
	if o.Series == SeriesOn {
		series = 2 * SeriesColumns * min(samples(leastTick), SeriesReadings)
	}
	return int(min(anyValues+series+2*sampleValues*(streams*samples(o.Interval.Std())+samples(leastTick)), math.MaxInt32))
}
