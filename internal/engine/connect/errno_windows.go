package connect

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// outcomeOf classifies the error of connect, read or write.
func outcomeOf(e syscall.Errno) outcome {
	switch e {
	case 0:
		return opened
	case windows.WSAECONNREFUSED, windows.ERROR_CONNECTION_REFUSED:
		return refused
	case windows.WSAETIMEDOUT, windows.ERROR_SEM_TIMEOUT:
		return timedOut
	case windows.WSAECONNRESET, windows.WSAECONNABORTED, windows.ERROR_NETNAME_DELETED, windows.ERROR_CONNECTION_ABORTED:
		return reset
	case windows.WSAEHOSTUNREACH, windows.WSAENETUNREACH, windows.WSAENETDOWN, windows.ERROR_HOST_UNREACHABLE, windows.ERROR_NETWORK_UNREACHABLE:
		return unreachable
	case windows.WSAEADDRNOTAVAIL, windows.WSAEADDRINUSE:
		return noPort
	case windows.WSAEMFILE:
		return noFile
	case windows.WSAENOBUFS:
		return noMemory
	case windows.WSAEACCES:
		return forbidden
	case windows.WSAEINVAL, windows.WSAEAFNOSUPPORT:
		return badSource
	}
	return other
}
