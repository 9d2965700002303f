package sock

import (
	"errors"
	"io"
	"net"
	"unsafe"

	"golang.org/x/sys/windows"
)

// HearRefusals makes the calls on a connected UDP socket say when an earlier
// datagram found nobody listening, which [Refused] tells. Package net switches
// that off on Windows (SIO_UDP_CONNRESET), where servers with many peers on
// one socket would stumble over it. What is no socket is left alone.
func HearRefusals(c net.Conn) {
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

// Refused reports whether err says that an earlier datagram found nobody
// listening (ICMP port unreachable). The call that got it moved nothing.
func Refused(err error) bool {
	return errors.Is(err, windows.WSAECONNREFUSED) || errors.Is(err, windows.WSAECONNRESET)
}

// NoBuffers reports whether err says that the host's own queues were full for
// a moment; the datagram was not sent.
func NoBuffers(err error) bool { return errors.Is(err, windows.WSAENOBUFS) }

// TooLong reports whether err says that a datagram is larger than the host sends.
func TooLong(err error) bool { return errors.Is(err, windows.WSAEMSGSIZE) }

// Closed reports whether err says that the peer closed or reset the connection.
func Closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, windows.WSAECONNRESET) || errors.Is(err, windows.WSAECONNABORTED)
}
