package sock

import (
	"errors"
	"io"
	"net"
	"unsafe"

	"golang.org/x/sys/windows"
)

// ReportRefusals enables errors on a connected UDP socket after an earlier datagram was
// refused; see [Refused]. Package net disables them on Windows (SIO_UDP_CONNRESET)
// because they disturb a server that serves many peers with one socket. ReportRefusals
// ignores connections that are not sockets.
func ReportRefusals(c net.Conn) {
	u, ok := c.(*net.UDPConn)
	if !ok {
		return
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		var on, got uint32 = 1, 0
		_ = windows.WSAIoctl(windows.Handle(fd), windows.SIO_UDP_CONNRESET,
			(*byte)(unsafe.Pointer(&on)), uint32(unsafe.Sizeof(on)), nil, 0, &got, nil, 0)
	})
}

// Refused reports whether err means that no socket listens where an earlier datagram went
// (ICMP port unreachable). The call that returned err moved no data.
func Refused(err error) bool {
	return errors.Is(err, windows.WSAECONNREFUSED) || errors.Is(err, windows.WSAECONNRESET)
}

// NoBuffers reports whether err means that the host's send queues were full, so that the
// datagram was not sent.
func NoBuffers(err error) bool { return errors.Is(err, windows.WSAENOBUFS) }

// TooLong reports whether err means that a datagram is larger than the host can send.
func TooLong(err error) bool { return errors.Is(err, windows.WSAEMSGSIZE) }

// Closed reports whether err means that the peer closed or reset the connection.
func Closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, windows.WSAECONNRESET) || errors.Is(err, windows.WSAECONNABORTED)
}
