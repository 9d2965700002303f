//go:build linux && (amd64 || arm64) && !race

package sock

import (
	"syscall"
	"time"
	_ "unsafe" // for go:linkname

	"golang.org/x/sys/unix"
)

//go:linkname entersyscallblock runtime.entersyscallblock
func entersyscallblock()

//go:linkname exitsyscall runtime.exitsyscall
func exitsyscall()

//go:linkname nanotime runtime.nanotime
func nanotime() int64

// PutFor is [Outlet.Put] of an outlet with patience, again and again for up to d, or
// until a call did not send all it could. It returns how many bytes the kernel took.
//
// To the Go runtime it is one system call. If each splice were one, the runtime's
// monitor would take its processor away from each that waits, and for that look around
// every 20 µs: some percent of a machine of two processors. docs/decisions/0005 says
// what may be done in between.
func (o *Outlet) PutFor(d time.Duration) (n int64, err error) {
	n, e := o.putUntil(nanotime() + int64(d))
	switch e {
	case 0:
		return n, nil
	case unix.EAGAIN, unix.EINTR:
		return n, ErrWouldBlock
	}
	return n, e
}

//go:nosplit
//go:norace
func (o *Outlet) putUntil(end int64) (n int64, e syscall.Errno) {
	fd := uintptr(o.fds[0])
	entersyscallblock()
	for e == 0 {
		if o.piped == 0 {
			var k uintptr
			k, _, e = syscall.RawSyscall6(unix.SYS_TEE, uintptr(o.source.from), uintptr(o.pipe.to), pipeSize, unix.SPLICE_F_NONBLOCK, 0, 0)
			if e != 0 {
				break
			}
			o.piped = int(k)
		}
		var k uintptr
		k, _, e = syscall.RawSyscall6(unix.SYS_SPLICE, uintptr(o.pipe.from), 0, fd, 0, uintptr(o.piped), unix.SPLICE_F_MOVE|unix.SPLICE_F_MORE)
		if e == 0 {
			o.piped -= int(k)
			n += int64(k)
		}
		if nanotime() >= end {
			break
		}
	}
	exitsyscall()
	return n, e
}
