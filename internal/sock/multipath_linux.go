package sock

import (
	"errors"
	"net"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// HasMultipath is nil where this system has Multipath TCP, and else an error of kind
// usage that says why not.
func HasMultipath() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, unix.IPPROTO_MPTCP)
	if errors.Is(err, unix.EAFNOSUPPORT) {
		fd, err = unix.Socket(unix.AF_INET6, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, unix.IPPROTO_MPTCP)
	}
	switch {
	case err == nil:
		_ = unix.Close(fd)
		return nil
	case errors.Is(err, unix.ENOPROTOOPT):
		return measure.Errorf(measure.KindUsage, "measure over Multipath TCP: this host has it turned off").
			WithHint("set net.mptcp.enabled to 1, or leave out --mptcp")
	}
	return measure.Errorf(measure.KindUsage, "measure over Multipath TCP: this kernel does not have it: %w", err).
		WithHint("use Linux 5.16 or later, or leave out --mptcp")
}

// Multipath tells whether c is a connection of Multipath TCP that has not fallen back to
// TCP, which happens where the peer, or something between, does not know it. It is not
// known of a connection that was closed.
func Multipath(c *net.TCPConn) (is, known bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return false, false
	}
	err = raw.Control(func(fd uintptr) {
		if !madeMultipath(int(fd)) {
			return
		}
		_, err := unix.GetsockoptInt(int(fd), unix.SOL_MPTCP, mptcpInfo)
		is = err == nil
	})
	return is, err == nil
}

// IsMultipath is [Multipath] for a connection that is open.
func IsMultipath(c *net.TCPConn) bool {
	is, _ := Multipath(c)
	return is
}

// madeMultipath tells whether a socket was made for Multipath TCP, whatever became of it.
func madeMultipath(fd int) bool {
	protocol, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PROTOCOL)
	return err == nil && protocol == unix.IPPROTO_MPTCP
}

// controlMultipath is [Settings.Control] for a dialer of Multipath TCP. Package net tries
// TCP where a socket of Multipath TCP fails for any reason. What fails for an option that
// such a socket does not take is not to become a connection over one path.
func (s Settings) controlMultipath(network, address string, c syscall.RawConn) error {
	var inner error
	err := c.Control(func(plain uintptr) {
		if madeMultipath(int(plain)) {
			return
		}
		domain, err := unix.GetsockoptInt(int(plain), unix.SOL_SOCKET, unix.SO_DOMAIN)
		if err != nil {
			return
		}
		fd, err := unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, unix.IPPROTO_MPTCP)
		if err != nil {
			return
		}
		defer unix.Close(fd)
		inner = s.set(uintptr(fd), network)
	})
	if err := errors.Join(err, inner); err != nil {
		return err
	}
	return s.Control(network, address, c)
}

// Numbers of linux/mptcp.h.
const (
	mptcpInfo     = 1 // MPTCP_INFO
	mptcpTCPInfo  = 2 // MPTCP_TCPINFO
	mptcpSubflows = 8 // that the kernel allows a connection in each direction
)

// subflowInfos is struct mptcp_subflow_data and what follows it.
type subflowInfos struct {
	size, subflows, kernel, user uint32
	infos                        [2 * mptcpSubflows]unix.TCPInfo
}

// subflows is what the kernel knows of each subflow of a connection of Multipath TCP;
// nil for any other.
func subflows(fd int) []unix.TCPInfo {
	if !madeMultipath(fd) {
		return nil
	}
	r := subflowInfos{user: uint32(unsafe.Sizeof(unix.TCPInfo{}))}
	r.size = uint32(unsafe.Offsetof(r.infos))
	size := uint32(unsafe.Sizeof(r))
	_, _, errno := unix.RawSyscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_MPTCP, mptcpTCPInfo,
		uintptr(unsafe.Pointer(&r)), uintptr(unsafe.Pointer(&size)), 0)
	if errno != 0 {
		return nil
	}
	return r.infos[:min(int(r.subflows), len(r.infos))]
}

// addSubflows makes t, which is of the first subflow, that of the whole connection.
func addSubflows(t *measure.TCPInfo, all []unix.TCPInfo) {
	t.Subflows = int64(len(all))
	for i := range all {
		s := fromKernel(&all[i], "")
		if i == 0 {
			t.CwndSegments, t.Retransmits, t.Lost, t.ReorderEvents, t.DeliveryBps, t.PacingBps = 0, 0, 0, 0, 0, 0
			t.MinRTTNs = s.MinRTTNs
		}
		t.CwndSegments += s.CwndSegments
		t.Retransmits += s.Retransmits
		t.Lost += s.Lost
		t.ReorderEvents += s.ReorderEvents
		t.DeliveryBps += s.DeliveryBps
		t.PacingBps += s.PacingBps
		if s.MinRTTNs > 0 && (t.MinRTTNs == 0 || s.MinRTTNs < t.MinRTTNs) {
			t.MinRTTNs = s.MinRTTNs
		}
	}
}
