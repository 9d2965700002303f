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

// StampDeparture asks the kernel for the times at which packets of a socket leave
// the program, before they wait in a queue of the host (SO_TIMESTAMPING with
// SOF_TIMESTAMPING_TX_SCHED). Each comes with its packet in the socket's queue of
// errors, and a poll of the socket wakes up for it.
func StampDeparture(fd int) error {
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, unix.SOF_TIMESTAMPING_TX_SCHED|unix.SOF_TIMESTAMPING_SOFTWARE)
}

// Arrived is when the packet came that the control messages are of; over a stream,
// the last byte that was read. It is on the wall clock, and zero where they do not
// say. It does not allocate.
func Arrived(control []byte) time.Time { return stamp(control, unix.SCM_TIMESTAMPNS) }

// Departed is when the packet left that the control messages are of, as Arrived.
func Departed(control []byte) time.Time { return stamp(control, unix.SCM_TIMESTAMPING) }

// stamp is the time that a message of a kind begins with.
func stamp(control []byte, kind int32) time.Time {
	for len(control) >= unix.SizeofCmsghdr {
		h, data, rest, err := unix.ParseOneSocketControlMessage(control)
		if err != nil {
			break
		}
		if h.Level == unix.SOL_SOCKET && h.Type == kind {
			return timespec(data)
		}
		control = rest
	}
	return time.Time{}
}

// ArrivedIn is [Arrived] for one control message, of which the caller looks for
// others, too; zero for one of another kind.
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

// Read returns what [unix.Read] would, and when it [Arrived].
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
	return int(got), Arrived(r.control[:r.header.Controllen]), nil
}
