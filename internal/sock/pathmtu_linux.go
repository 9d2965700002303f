package sock

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// PathMTU returns the path MTU of a connected UDP socket as the kernel knows it, in bytes
// with the IP header (IP_MTU of ip(7)); false if unknown.
func PathMTU(c net.Conn) (bytes int, ok bool) {
	sc, is := c.(syscall.Conn)
	if !is {
		return 0, false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return 0, false
	}
	level, option := unix.IPPROTO_IP, unix.IP_MTU
	if !AddrPort(c.RemoteAddr()).Addr().Is4() {
		level, option = unix.IPPROTO_IPV6, unix.IPV6_MTU
	}
	var inner error
	err = raw.Control(func(fd uintptr) { bytes, inner = unix.GetsockoptInt(int(fd), level, option) })
	return bytes, err == nil && inner == nil
}
