package sock

import (
	"encoding/binary"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Stamp asks the kernel for the times at which packets come to a socket
// (SO_TIMESTAMPNS, socket(7)), or asks no more. It begins a moment after the
// first socket of the machine asks for it.
func Stamp(fd int, on bool) error {
	value := 0
	if on {
		value = 1
	}
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, value)
}

// Stamped is when the packet came, or left, that the control messages are of; over
// a stream, the last byte that was read. It is on the wall clock, and zero where they
// do not say. It does not allocate.
func Stamped(control []byte) time.Time {
	var s Stamps
	if s.Read(control); s.Software == 0 {
		return time.Time{}
	}
	return time.Unix(0, s.Software)
}

// ArrivedIn is when the packet came that one control message is of, where the caller
// looks for others, too; zero for one of another kind.
func ArrivedIn(h unix.Cmsghdr, data []byte) time.Time {
	if h.Level == unix.SOL_SOCKET && h.Type == unix.SCM_TIMESTAMPNS {
		return timespec(data)
	}
	return time.Time{}
}

// timespec is the struct timespec that data begins with, zero where it is too
// short. Both fields have 64 bits on the architectures this builds for.
func timespec(data []byte) time.Time {
	if len(data) < 16 {
		return time.Time{}
	}
	sec, nsec := binary.NativeEndian.Uint64(data), binary.NativeEndian.Uint64(data[8:])
	return time.Unix(int64(sec), int64(nsec))
}

// StampedReader reads from a socket that is asked for stamps, without allocating.
// One goroutine may use it at a time.
type StampedReader struct {
	header  unix.Msghdr
	vector  unix.Iovec
	control [64]byte // room for one stamp and more
}

// Read returns what [unix.Read] would, and when it came, as [Stamped].
func (r *StampedReader) Read(fd int, b []byte) (n int, arrived time.Time, err error) {
	r.vector.Base = unsafe.SliceData(b)
	r.vector.SetLen(len(b))
	r.header = unix.Msghdr{Iov: &r.vector, Iovlen: 1, Control: &r.control[0]}
	r.header.SetControllen(len(r.control))
	got, _, e := unix.Syscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&r.header)), 0)
	r.vector.Base = nil
	if e != 0 {
		return 0, time.Time{}, e
	}
	return int(got), Stamped(r.control[:r.header.Controllen]), nil
}
