//go:build linux && (amd64 || arm64) && !race

package sock

import (
	"syscall"
	"time"
	"unsafe" // for go:linkname, too

	"golang.org/x/sys/unix"
)

//go:linkname entersyscallblock runtime.entersyscallblock
func entersyscallblock()

//go:linkname exitsyscall runtime.exitsyscall
func exitsyscall()

//go:linkname nanotime runtime.nanotime
func nanotime() int64

// PutFor is [Writer.Put] of at most n bytes of a writer with patience, again and again
// for up to d, or until a call did not send all it could. It returns how many bytes the
// kernel took.
//
// To the Go runtime it is one system call. If each were one, the runtime's
// monitor would take its processor away from each that waits, and for that look around
// every 20 µs: some percent of a machine of two processors. docs/decisions/0005 says
// what may be done in between.
func (o *Writer) PutFor(n int, d time.Duration) (took int64, err error) {
	took, e := o.putUntil(uintptr(min(n, len(o.payload))), nanotime()+int64(d))
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
	entersyscallblock()
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
		if nanotime() >= end {
			break
		}
	}
	exitsyscall()
	return took, e
}
