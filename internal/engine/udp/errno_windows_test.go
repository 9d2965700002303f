package udp

import "golang.org/x/sys/windows"

const (
	refusedErrno = windows.WSAECONNREFUSED
	fullErrno    = windows.WSAENOBUFS
)
