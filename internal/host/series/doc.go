// Package series samples the counters of this host and of the sockets of a trial at regular
// moments: the member series of a host in a result (docs/reference/result.md has every
// column). It judges nothing.
//
// What a reading costs is kept far below what it measures: on Linux files stay open and are
// read again into one buffer, parsers allocate nothing, and a source that takes long is read
// seldom. A source that cannot be read has no columns, one that cannot be read any more has
// unknown values, and one that hangs is left alone: none of them ends a trial.
//
// A [Sampler] has two goroutines: one keeps the time and holds the readings, the other reads
// the sources. [Sampler.Stop] ends both; the second outlives it only while it hangs in a source.
package series
