//go:build linux && (!(amd64 || arm64) || race || plainloops)

package sock

import "time"

// TakeFor is [Reader.Take] of a reader with patience, again and again for up to d, or
// until nothing came for as long as it is patient, or the stream ended. It returns how
// many bytes came, and when the last of them did.
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
