// Package roundtrip is shared by all round-trip tests: [Window] matches numbered replies
// to requests, and [Recorder] turns round trips into the histogram, rows, series and live
// intervals of a [measure.Latency]. It moves no packets and reads no clock but the
// recorder's interval timer.
//
// A Recorder runs one goroutine, started by [Start] and waited for by [Recorder.Stop].
// The measuring goroutine passes blocks of raw times over a channel, so that histograms,
// percentiles and the observer never delay the next request.
package roundtrip
