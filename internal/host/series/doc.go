// Package series samples the counters of this host and of the sockets of a trial at regular
// moments: the member series of a host in a result (docs/reference/result.md has every
// column). It judges nothing.
//
// The cost of a reading is kept far below what it measures: on Linux files stay open and are
// read again into one buffer, parsers allocate nothing, and a slow source is read seldom. A
// source that cannot be read has no columns, a source that cannot be read any more has
// unknown values, and a source that hangs is not waited for: none of them ends a trial.
//
// A [Sampler] has two goroutines: one keeps the time and holds the readings, the other reads
// the sources. [Sampler.Stop] ends both; the second outlives it only while it hangs in a source.
package series
