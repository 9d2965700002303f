package sock

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// forceQueue sets the buffer of [RaiseQueue] beyond the system's limit; false if this
// process lacks the privilege.
func forceQueue(c net.Conn) bool {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return false
	}
	var inner error
	err = raw.Control(func(fd uintptr) {
		inner = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, receiveQueue)
	})
	return err == nil && inner == nil
}

// PathMTU returns the path MTU of a connected UDP socket as the kernel knows it, in bytes
// with the IP header (IP_MTU of ip(7)), or false if unknown.
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
