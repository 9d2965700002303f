package native

import "golang.org/x/sys/windows"

// The operating system's errors when a connection cannot be opened.
const (
	errnoRefused     = windows.WSAECONNREFUSED
	errnoNoHost      = windows.WSAEHOSTUNREACH
	errnoNoNetwork   = windows.WSAENETUNREACH
	errnoNoAddress   = windows.WSAEADDRNOTAVAIL
	errnoNotAllowed  = windows.WSAEACCES
	errnoForbidden   = windows.ERROR_ACCESS_DENIED
	errnoWrongFamily = windows.WSAEAFNOSUPPORT
	errnoNoFile      = windows.WSAEMFILE
	errnoNoFileLeft  = windows.WSAENOBUFS
)
