package sock

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// StampDeparture asks the kernel for the times at which packets of a socket leave
// the program, before they wait in a queue of the host (SO_TIMESTAMPING with
// SOF_TIMESTAMPING_TX_SCHED). Each comes with its packet in the socket's queue of
// errors, and a poll of the socket wakes up for it.
func StampDeparture(fd int) error {
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, unix.SOF_TIMESTAMPING_TX_SCHED|unix.SOF_TIMESTAMPING_SOFTWARE)
}

// StampBothWays asks the kernel for the times at which packets of a socket come to
// this host and at which it hands those that leave to the interface, behind its queue
// (SOF_TIMESTAMPING_RX_SOFTWARE, TX_SOFTWARE); with hardware, also for the interface's
// own. The latter change nothing about the interface: they come where it stamps
// already. A time of departure waits in the queue of errors, without its packet but
// with a key: how many datagrams, or bytes of a stream, left before it. It takes the
// place of [Stamp].
func StampBothWays(fd int, hardware bool) error {
	const software = unix.SOF_TIMESTAMPING_RX_SOFTWARE | unix.SOF_TIMESTAMPING_TX_SOFTWARE | unix.SOF_TIMESTAMPING_SOFTWARE |
		unix.SOF_TIMESTAMPING_OPT_ID | unix.SOF_TIMESTAMPING_OPT_TSONLY
	flags := software
	if hardware {
		flags |= unix.SOF_TIMESTAMPING_RX_HARDWARE | unix.SOF_TIMESTAMPING_TX_HARDWARE | unix.SOF_TIMESTAMPING_RAW_HARDWARE |
			unix.SOF_TIMESTAMPING_OPT_TX_SWHW
	}
	err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, flags|unix.SOF_TIMESTAMPING_OPT_ID_TCP)
	if errors.Is(err, unix.EINVAL) { // before Linux 6.2 a stream's key counts from what was acknowledged by now
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, flags)
	}
	return err
}

// StampNoMore ends what [StampBothWays] began and drops the stamps that nobody read.
func StampNoMore(fd int) {
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, 0)
	const most = 4096 // more than a socket's queue holds
	for range most {
		if _, _, _, _, err := unix.Recvmsg(fd, nil, nil, unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT); err != nil {
			return
		}
	}
}

// StampsHardware tells whether an interface can stamp packets both ways by itself
// (ethtool(8), -T). Whether it does so is a matter of its settings.
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

// Stamps are what the control messages of a packet say of its times.
type Stamps struct {
	// Software is when the kernel had the packet, or handed it to the interface, in ns
	// of the wall clock; 0 where that is not said.
	Software int64
	// Hardware is when the packet passed the interface, in ns of the interface's own
	// clock, which compares with itself only; 0 where that is not said.
	Hardware int64
	// Left tells that it is the time of a packet that left, with the key Key.
	Left bool
	Key  uint32
}

// Read takes what control says and forgets what was there before. What does not
// parse ends it. It does not allocate, and may run outside of the Go runtime.
//
//go:nosplit
//go:norace
func (s *Stamps) Read(control []byte) {
	*s = Stamps{}
	const align = int(unsafe.Sizeof(uintptr(0)))
	for len(control) >= unix.SizeofCmsghdr {
		h := (*unix.Cmsghdr)(unsafe.Pointer(unsafe.SliceData(control)))
		n := int(h.Len) // negative where it cannot be
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

// take reads one message: a struct timespec (SO_TIMESTAMPNS), three of them
// (SO_TIMESTAMPING), or a struct sock_extended_err (linux/errqueue.h) with errno in
// 4 bytes, origin, type, code, padding, and info and data of 4 each. Fields of a
// struct timespec have 64 bits on the architectures this builds for.
//
//go:nosplit
//go:norace
func (s *Stamps) take(level, kind int32, data []byte) {
	at := unsafe.Pointer(unsafe.SliceData(data))
	switch {
	case level == unix.SOL_SOCKET && kind == unix.SCM_TIMESTAMPNS && len(data) >= 16:
		s.Software = nanoseconds((*[2]int64)(at))
	case level == unix.SOL_SOCKET && kind == unix.SCM_TIMESTAMPING && len(data) >= 48:
		three := (*[3][2]int64)(at) // the one in the middle is out of use
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
