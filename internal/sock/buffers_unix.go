//go:build linux || darwin

package sock

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// Buffers returns the current sizes of c's socket buffers in bytes, or false if the
// system does not report them. Linux reports twice the requested size.
func Buffers(c net.Conn) (send, receive int, ok bool) {
	sc, is := c.(syscall.Conn)
	if !is {
		return 0, 0, false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return 0, 0, false
	}
	var sendErr, receiveErr error
	err = raw.Control(func(fd uintptr) {
		send, sendErr = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF)
		receive, receiveErr = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF)
	})
	return send, receive, err == nil && sendErr == nil && receiveErr == nil
}
