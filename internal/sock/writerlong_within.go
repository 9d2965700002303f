//go:build linux && (!(amd64 || arm64) || race || plainloops)

package sock

import "time"

// PutFor repeats [Writer.Put] of up to n bytes of a writer with BlockTimeout set, for up
// to d, or until a call sent less than it could. It returns how many bytes the kernel
// accepted.
func (o *Writer) PutFor(n int, d time.Duration) (took int64, err error) {
	for end := Now().Add(d); err == nil && Now().Before(end); {
		var k int
		k, err = o.Put(0, n)
		took += int64(k)
	}
	return took, err
}
