package sock

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Stamp enables or disables arrival time stamps of a socket (SO_TIMESTAMPNS, socket(7)).
// Stamps begin a moment after the first socket of the machine enables them.
func Stamp(fd int, on bool) error {
	value := 0
	if on {
		value = 1
	}
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, value)
}

// Stamped returns when the packet of these control messages arrived or departed, on the
// wall clock; for a stream, the last byte that was read. It is zero if there is no stamp.
// It does not allocate.
func Stamped(control []byte) time.Time {
	var s Stamps
	s.Read(control)
	return s.time()
}

// ArrivedIn returns the arrival time in one control message, for callers that also parse
// other messages; zero if the message is of another kind.
func ArrivedIn(h unix.Cmsghdr, data []byte) time.Time {
	var s Stamps
	s.take(h.Level, h.Type, data)
	return s.time()
}

// time returns the kernel's stamp, zero if there is none.
func (s *Stamps) time() time.Time {
	if s.Software == 0 {
		return time.Time{}
	}
	return time.Unix(0, s.Software)
}

// StampedReader reads from a socket with time stamps enabled, without allocating. One
// goroutine may use it at a time.
type StampedReader struct {
	header  unix.Msghdr
	vector  unix.Iovec
	control [64]byte // enough for one stamp
}

// Read returns the results of [unix.Read] and the arrival time, as [Stamped].
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
