package server

import (
	"syscall"

	"golang.org/x/sys/windows"
)

const errnoInUse = windows.WSAEADDRINUSE

// tcpMaxRT is TCP_MAXRT of ws2ipdef.h: seconds of unanswered retransmission.
const tcpMaxRT = 5

// noticeLoss ends a connection when retransmissions stay unanswered for ms milliseconds.
func noticeLoss(c syscall.RawConn, ms int) {
	_ = c.Control(func(fd uintptr) {
		_ = windows.SetsockoptInt(windows.Handle(fd), windows.IPPROTO_TCP, tcpMaxRT, ms/1000)
	})
}
