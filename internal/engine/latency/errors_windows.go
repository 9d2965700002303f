package latency

import (
	"errors"

	"golang.org/x/sys/windows"
)

// refused reports whether an earlier datagram was answered with "port unreachable": no
// socket listens there any more. Windows reports it as a reset.
func refused(err error) bool {
	return errors.Is(err, windows.WSAECONNRESET) || errors.Is(err, windows.WSAECONNREFUSED)
}

// noBuffer reports whether the system had no buffer for a datagram, which was not sent.
func noBuffer(err error) bool { return errors.Is(err, windows.WSAENOBUFS) }

// cut reports whether a datagram was longer than its read buffer.
func cut(err error) bool { return errors.Is(err, windows.WSAEMSGSIZE) }
