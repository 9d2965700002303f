// Package meter counts what the streams of one flow move and turns the counts into
// samples. Each stream's worker publishes its running count in a [Cell]. A [Recorder]
// reads all cells at one moment, records that moment, and makes a sample of the
// difference to the previous reading. A sample's times are always the true times of its
// two readings, however late a timer fires.
//
// It moves no bytes and starts no goroutines: the engine's goroutine runs
// [Recorder.Watch]. docs/method.md specifies what the samples mean.
package meter
