package latency

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stampedRead reads from a socket together with the kernel's time of arrival
// (SO_TIMESTAMPNS, socket(7)), without allocating. Over a stream that is the
// arrival of the last byte read.
type stampedRead struct {
	header  unix.Msghdr
	vector  unix.Iovec
	control [64]byte // room for one stamp and more
}

// read returns what [unix.Read] would, and how long ago the kernel got it: 0
// where it did not say, or where the wall clock, on which stamps are, was set.
func (r *stampedRead) read(fd int, b []byte) (n int, late time.Duration, err error) {
	r.vector.Base = unsafe.SliceData(b)
	r.vector.SetLen(len(b))
	r.header = unix.Msghdr{Iov: &r.vector, Iovlen: 1, Control: &r.control[0]}
	r.header.SetControllen(len(r.control))
	got, _, e := unix.Syscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&r.header)), 0)
	now := time.Now()
	r.vector.Base = nil
	if e != 0 {
		return 0, 0, e
	}
	if stamp, ok := r.stamp(); ok {
		late = now.Round(0).Sub(stamp)
	}
	const longest = time.Second
	if late < 0 || late > longest {
		late = 0
	}
	return int(got), late, nil
}

// stamp finds the one control message that was asked for; it would be the first.
func (r *stampedRead) stamp() (time.Time, bool) {
	const size = unix.SizeofCmsghdr
	at := (*unix.Timespec)(unsafe.Pointer(&r.control[size]))
	h := (*unix.Cmsghdr)(unsafe.Pointer(&r.control[0]))
	if int(r.header.Controllen) < size+int(unsafe.Sizeof(*at)) ||
		h.Level != unix.SOL_SOCKET || h.Type != unix.SCM_TIMESTAMPNS || int(h.Len) < size+int(unsafe.Sizeof(*at)) {
		return time.Time{}, false
	}
	return time.Unix(at.Unix()), true
}
