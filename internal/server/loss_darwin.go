package server

import (
	"syscall"

	"golang.org/x/sys/unix"
)

const errnoInUse = syscall.EADDRINUSE

// noticeLoss ends a connection when retransmissions stay unanswered for ms
// milliseconds; the system counts in seconds.
func noticeLoss(c syscall.RawConn, ms int) {
	_ = c.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_RXT_CONNDROPTIME, ms/1000)
	})
}
