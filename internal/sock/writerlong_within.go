//go:build linux && (!(amd64 || arm64) || race || plainloops)

package sock

import "time"

// PutFor is [Writer.Put] of at most n bytes of a writer with patience, again and again
// for up to d, or until a call did not send all it could. It returns how many bytes the
// kernel took.
func (o *Writer) PutFor(n int, d time.Duration) (took int64, err error) {
	for end := Now().Add(d); err == nil && Now().Before(end); {
		var k int
		k, err = o.Put(0, n)
		took += int64(k)
	}
	return took, err
}
