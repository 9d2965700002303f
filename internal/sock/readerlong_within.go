//go:build linux && (!(amd64 || arm64) || race || plainloops)

package sock

import "time"

// TakeFor repeats [Reader.Take] of a reader with BlockTimeout set, for up to d, or until
// nothing arrived for the block timeout, or the stream ended. It returns the number of
// bytes, and when the last of them arrived.
func (in *Reader) TakeFor(d time.Duration) (took int64, last time.Time, err error) {
	last = Now()
	for end := last.Add(d); err == nil && last.Before(end); {
		var k int
		if k, err = in.Take(0); k > 0 {
			took, last = took+int64(k), Now()
		}
	}
	return took, last, err
}
