package sock

import (
	"errors"
	"net"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// HasMultipath returns nil if this system has Multipath TCP, or an error of kind usage
// with the reason.
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
		return measure.Fail(measure.KindUsage, "sock.multipath.off", nil)
	}
	return measure.Fail(measure.KindUsage, "sock.multipath.kernel", measure.Figures{"cause": err})
}

// Multipath reports whether c uses Multipath TCP and has not fallen back to TCP, which
// happens if the peer or a device on the path does not support it. known is false for a
// closed connection.
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

// IsMultipath is [Multipath] for an open connection.
func IsMultipath(c *net.TCPConn) bool {
	is, _ := Multipath(c)
	return is
}

// madeMultipath reports whether a socket was created for Multipath TCP, even if it fell
// back to TCP.
func madeMultipath(fd int) bool {
	protocol, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PROTOCOL)
	return err == nil && protocol == unix.IPPROTO_MPTCP
}

// controlMultipath is [Settings.Control] for a dialer of Multipath TCP. Package net falls
// back to TCP if a Multipath TCP socket fails for any reason. An option that such a
// socket does not support must not cause that fallback.
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
	mptcpSubflows = 8 // kernel's limit a connection, in each direction
)

// subflowInfos is struct mptcp_subflow_data followed by its array.
type subflowInfos struct {
	size, subflows, kernel, user uint32
	infos                        [2 * mptcpSubflows]unix.TCPInfo
}

// subflows returns the kernel's TCP_INFO of each subflow of a Multipath TCP connection;
// nil for any other connection.
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

// addSubflows turns t, the TCP_INFO of the first subflow, into that of the whole
// connection.
func addSubflows(t *measure.TCPInfo, all []unix.TCPInfo) {
	t.Subflows = int64(len(all))
	for i := range all {
		s := fromKernel(&all[i], "")
		if i == 0 {
			t.CwndSegments, t.Retransmits, t.Lost, t.ReorderEvents, t.DeliveryBps, t.PacingBps = 0, 0, 0, 0, 0, 0
			t.UnackedSegs, t.NotsentBytes, t.DSACKs, t.Timeouts, t.DeliveredCE, t.SentBytes, t.AckedBytes, t.DataSegsOut = 0, 0, 0, 0, 0, 0, 0, 0
			t.MinRTTNs = s.MinRTTNs
		}
		t.CwndSegments += s.CwndSegments
		t.Retransmits += s.Retransmits
		t.Lost += s.Lost
		t.ReorderEvents += s.ReorderEvents
		t.DeliveryBps += s.DeliveryBps
		t.PacingBps += s.PacingBps
		t.UnackedSegs += s.UnackedSegs
		t.NotsentBytes += s.NotsentBytes
		t.DSACKs += s.DSACKs
		t.Timeouts += s.Timeouts
		t.DeliveredCE += s.DeliveredCE
		t.SentBytes += s.SentBytes
		t.AckedBytes += s.AckedBytes
		t.DataSegsOut += s.DataSegsOut
		if s.MinRTTNs > 0 && (t.MinRTTNs == 0 || s.MinRTTNs < t.MinRTTNs) {
			t.MinRTTNs = s.MinRTTNs
		}
	}
}
