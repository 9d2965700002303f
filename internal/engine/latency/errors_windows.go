package latency

import (
	"errors"

	"golang.org/x/sys/windows"
)

// refused reports whether a datagram sent earlier came back as "port
// unreachable": nobody is listening there any more. Windows calls it a reset.
func refused(err error) bool {
	return errors.Is(err, windows.WSAECONNRESET) || errors.Is(err, windows.WSAECONNREFUSED)
}

// noBuffer reports whether the system had no room for a datagram: it is lost
// before it left.
func noBuffer(err error) bool { return errors.Is(err, windows.WSAENOBUFS) }

// cut reports whether a datagram was longer than the buffer it was read into.
func cut(err error) bool { return errors.Is(err, windows.WSAEMSGSIZE) }
