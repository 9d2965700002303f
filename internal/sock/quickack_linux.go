package sock

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// AcknowledgeAtOnce has the kernel acknowledge what arrives on c without waiting for data to
// send with it (TCP_QUICKACK of tcp(7)), until this end sends again. The round trips that the
// other end measures are those of the path then.
func AcknowledgeAtOnce(c syscall.Conn) {
	if raw, err := c.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_QUICKACK, 1) })
	}
}
