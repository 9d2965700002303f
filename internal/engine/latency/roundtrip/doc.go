// Package roundtrip is what every round-trip test shares: [Window], which
// matches numbered replies to requests, and [Recorder], which turns round trips
// into the histogram, rows, series and live intervals of a [measure.Latency].
// It moves no packets and reads no clock but the recorder's interval timer.
//
// A Recorder runs one goroutine, started by [Start] and waited for by
// [Recorder.Stop]. The measuring goroutine gives it blocks of raw times over a
// channel, so that histogram work, percentiles and the observer never stand
// between a reply and the next request.
package roundtrip
