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

// PutFor repeats [Writer.Put] of up to n bytes of a writer with BlockTimeout set, for up
// to d, or until a call sent less than it could. It returns how many bytes the kernel
// accepted.
//
// The Go runtime sees one system call: see package longcall. If it saw each of them, its
// monitor would check every 20 µs and take the processor from each call that waits, which
// costs some percent of a machine with two processors.
func (o *Writer) PutFor(n int, d time.Duration) (took int64, err error) {
	took, e := o.putUntil(uintptr(min(n, len(o.payload))), longcall.Nanotime()+int64(d))
	switch e {
	case 0:
		return took, nil
	case unix.EAGAIN, unix.EINTR:
		return took, ErrWouldBlock
	}
	return took, e
}

//go:nosplit
//go:norace
func (o *Writer) putUntil(each uintptr, end int64) (took int64, e syscall.Errno) {
	fd := uintptr(o.fds[0])
	longcall.Enter()
	for {
		var k uintptr
		if o.copies {
			k, _, e = syscall.RawSyscall(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(&o.payload[0])), each)
		} else {
			if o.piped == 0 {
				k, _, e = syscall.RawSyscall6(unix.SYS_TEE, uintptr(o.source.from), uintptr(o.pipe.to), pipeSize, unix.SPLICE_F_NONBLOCK, 0, 0)
				if e != 0 {
					break
				}
				o.piped = int(k)
			}
			k, _, e = syscall.RawSyscall6(unix.SYS_SPLICE, uintptr(o.pipe.from), 0, fd, 0, min(each, uintptr(o.piped)), unix.SPLICE_F_MOVE|unix.SPLICE_F_MORE)
			if e == 0 {
				o.piped -= int(k)
			}
		}
		if e != 0 {
			break
		}
		took += int64(k)
		if longcall.Nanotime() >= end {
			break
		}
	}
	longcall.Exit()
	return took, e
}

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

// pollLong is ppoll(2) for waits that are long: the Go runtime gives its processor (P) away before
// the call. Otherwise its monitor would have to notice each of these calls, and would check every
// 20 µs for that while many loops wait. It returns a negative number for an error.
//
//go:nosplit
//go:norace
func pollLong(fds []unix.PollFd, t *unix.Timespec) int {
	longcall.Enter()
	n, _, e := syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(unsafe.SliceData(fds))), uintptr(len(fds)), uintptr(unsafe.Pointer(t)), 0, 0, 0)
	longcall.Exit()
	if e != 0 {
		return -1
	}
	return int(n)
}
