package sock

import (
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
	s.Read(control)
	return s.time()
}

// ArrivedIn is when the packet came that one control message is of, where the caller
// looks for others, too; zero for one of another kind.
func ArrivedIn(h unix.Cmsghdr, data []byte) time.Time {
	var s Stamps
	s.take(h.Level, h.Type, data)
	return s.time()
}

// time is the kernel's stamp, zero where there is none.
func (s *Stamps) time() time.Time {
	if s.Software == 0 {
		return time.Time{}
	}
	return time.Unix(0, s.Software)
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
