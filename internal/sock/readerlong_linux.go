//go:build linux && (amd64 || arm64) && !race && !plainloops

package sock

import (
	"io"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"soku/internal/sock/longcall"
)

// TakeFor repeats [Reader.Take] of a reader with BlockTimeout set, for up to d, or until
// nothing arrived for the block timeout, or the stream ended. It returns the number of
// bytes, and when the last of them arrived.
//
// The Go runtime sees one system call, as with [Writer.PutFor].
func (in *Reader) TakeFor(d time.Duration) (took int64, last time.Time, err error) {
	took, at, ended, e := in.takeUntil(longcall.Nanotime() + int64(d))
	last = Now().Add(-time.Duration(longcall.Nanotime() - at))
	switch {
	case ended:
		return took, last, io.EOF
	case e == unix.EAGAIN, e == unix.EINTR:
		return took, last, ErrWouldBlock
	case e != 0:
		return took, last, e
	}
	return took, last, nil
}

//go:nosplit
//go:norace
func (in *Reader) takeUntil(end int64) (took, at int64, ended bool, e syscall.Errno) {
	fd := uintptr(in.fds[0])
	longcall.Enter()
	for {
		var k uintptr
		k, _, e = syscall.RawSyscall6(unix.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&in.buf[0])), uintptr(in.most), 0, 0, 0)
		if ended = e == 0 && k == 0; ended || e != 0 {
			break
		}
		took += int64(k)
		if at = longcall.Nanotime(); at >= end {
			break
		}
	}
	longcall.Exit()
	return took, at, ended, e
}
