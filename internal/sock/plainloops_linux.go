//go:build linux && (!(amd64 || arm64) || race || plainloops)

package sock

import (
	"time"

	"golang.org/x/sys/unix"
)

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

// pollLong is ppoll(2). It returns a negative number for an error.
func pollLong(fds []unix.PollFd, t *unix.Timespec) int {
	n, err := unix.Ppoll(fds, t, nil)
	if err != nil {
		return -1
	}
	return n
}
