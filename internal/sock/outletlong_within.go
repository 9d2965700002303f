//go:build linux && (!(amd64 || arm64) || race)

package sock

import "time"

// PutFor is [Outlet.Put] of an outlet with patience, again and again for up to d, or
// until a call did not send all it could. It returns how many bytes the kernel took.
func (o *Outlet) PutFor(d time.Duration) (n int64, err error) {
	for end := Now().Add(d); err == nil && Now().Before(end); {
		var k int
		k, err = o.Put(0, pipeSize)
		n += int64(k)
	}
	return n, err
}
