package sock

import (
	"errors"
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

// StampDeparture enables time stamps of departing packets, taken before a packet enters a
// queue of the host (SO_TIMESTAMPING with SOF_TIMESTAMPING_TX_SCHED). Each stamp arrives
// in the socket's error queue together with its packet, and wakes a poll of the socket.
func StampDeparture(fd int) error {
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, unix.SOF_TIMESTAMPING_TX_SCHED|unix.SOF_TIMESTAMPING_SOFTWARE)
}

// StampBothWays enables time stamps in both directions: when a packet arrives at this
// host, and when a departing packet leaves the host's queue for the interface
// (SOF_TIMESTAMPING_RX_SOFTWARE, TX_SOFTWARE). With hardware set it also enables the
// interface's own stamps; they appear only if the interface is already configured to take
// them. A departure stamp arrives in the error queue without its packet but with a key:
// the number of datagrams, or of bytes of a stream, that departed before it.
// StampBothWays replaces [Stamp].
func StampBothWays(fd int, hardware bool) error {
	const software = unix.SOF_TIMESTAMPING_RX_SOFTWARE | unix.SOF_TIMESTAMPING_TX_SOFTWARE | unix.SOF_TIMESTAMPING_SOFTWARE |
		unix.SOF_TIMESTAMPING_OPT_ID | unix.SOF_TIMESTAMPING_OPT_TSONLY
	flags := software
	if hardware {
		flags |= unix.SOF_TIMESTAMPING_RX_HARDWARE | unix.SOF_TIMESTAMPING_TX_HARDWARE | unix.SOF_TIMESTAMPING_RAW_HARDWARE |
			unix.SOF_TIMESTAMPING_OPT_TX_SWHW
	}
	err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, flags|unix.SOF_TIMESTAMPING_OPT_ID_TCP)
	if errors.Is(err, unix.EINVAL) { // before Linux 6.2 a stream's key counts from the bytes acknowledged so far
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, flags)
	}
	return err
}

// StampNoMore disables the stamps of [StampBothWays] and discards those that were not
// read.
func StampNoMore(fd int) {
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, 0)
	const most = 4096 // more than an error queue can hold
	for range most {
		if _, _, _, _, err := unix.Recvmsg(fd, nil, nil, unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT); err != nil {
			return
		}
	}
}

// StampsHardware reports whether an interface has hardware time stamps in both directions
// (ethtool -T, ethtool(8)). They may still be disabled.
func StampsHardware(iface string) bool {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	const both = unix.SOF_TIMESTAMPING_TX_HARDWARE | unix.SOF_TIMESTAMPING_RX_HARDWARE | unix.SOF_TIMESTAMPING_RAW_HARDWARE
	info, err := unix.IoctlGetEthtoolTsInfo(fd, iface)
	return err == nil && info.So_timestamping&both == both
}

// Stamps are the time stamps in the control messages of one packet.
type Stamps struct {
	// Software is when the kernel received the packet or passed it to the interface, in
	// ns of the wall clock, or 0 if unknown.
	Software int64
	// Hardware is when the packet passed the interface, in ns of the interface's own
	// clock, which can be compared only with itself, or 0 if unknown.
	Hardware int64
	// Left is set for a departing packet, whose key is Key.
	Left bool
	Key  uint32
}

// Read replaces s with the stamps in control. It stops at the first message that does not
// parse. It does not allocate and may run outside of the Go runtime.
//
//go:nosplit
//go:norace
func (s *Stamps) Read(control []byte) {
	*s = Stamps{}
	const align = int(unsafe.Sizeof(uintptr(0)))
	for len(control) >= unix.SizeofCmsghdr {
		h := (*unix.Cmsghdr)(unsafe.Pointer(unsafe.SliceData(control)))
		n := int(h.Len) // may be negative if malformed
		if n < unix.SizeofCmsghdr || n > len(control) {
			return
		}
		s.take(h.Level, h.Type, control[unix.SizeofCmsghdr:n])
		n = (n + align - 1) &^ (align - 1)
		if n >= len(control) {
			return
		}
		control = control[n:]
	}
}

// take parses one message: a struct timespec (SO_TIMESTAMPNS), three of them
// (SO_TIMESTAMPING), or a struct sock_extended_err (linux/errqueue.h) with errno in 4
// bytes, origin, type, code, padding, and info and data of 4 bytes each. The fields of a
// struct timespec have 64 bits on all architectures that soku builds for.
//
//go:nosplit
//go:norace
func (s *Stamps) take(level, kind int32, data []byte) {
	at := unsafe.Pointer(unsafe.SliceData(data))
	switch {
	case level == unix.SOL_SOCKET && kind == unix.SCM_TIMESTAMPNS && len(data) >= 16:
		s.Software = nanoseconds((*[2]int64)(at))
	case level == unix.SOL_SOCKET && kind == unix.SCM_TIMESTAMPING && len(data) >= 48:
		three := (*[3][2]int64)(at) // the second one is unused
		s.Software, s.Hardware = nanoseconds(&three[0]), nanoseconds(&three[2])
	case (level == unix.SOL_IP && kind == unix.IP_RECVERR || level == unix.SOL_IPV6 && kind == unix.IPV6_RECVERR) && len(data) >= 16:
		if data[4] == unix.SO_EE_ORIGIN_TIMESTAMPING {
			s.Left, s.Key = true, (*[4]uint32)(at)[3]
		}
	}
}

//go:nosplit
//go:norace
func nanoseconds(timespec *[2]int64) int64 { return timespec[0]*1e9 + timespec[1] }
