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
