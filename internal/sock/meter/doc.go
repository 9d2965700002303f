// Package meter counts what the streams of one flow move and turns the counts
// into samples: each stream's worker publishes its running count in a [Cell];
// a [Recorder] reads all cells at one moment, notes that moment, and makes a
// sample of the difference to the reading before. A sample's times are always
// the true times of its two readings, however late a timer fired.
//
// It moves no bytes and starts no goroutines: the engine's own goroutine runs
// [Recorder.Watch]. docs/method.md specifies what the samples mean.
package meter
