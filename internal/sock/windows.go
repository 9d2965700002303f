//go:build windows

package sock

import (
	"errors"
	"io"
	"net"
	"unsafe"

	"golang.org/x/sys/windows"

	"soku/internal/measure"
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

// OpenFiles returns how many file descriptors this process may have open; 0 is no limit
// that matters.
func OpenFiles() int { return 0 }

// Buffers reports false: the socket buffers are not read on this system.
func Buffers(net.Conn) (send, receive int, ok bool) { return 0, 0, false }

const system = "Windows"

// set sets the window only: Windows does not have the other options or has them in another form,
// and it accepts IP_TOS without sending it.
func (s Settings) set(handle uintptr, _ string) error {
	switch {
	case s.Congestion != "":
		return unsupported("congestion")
	case s.MSS != 0:
		return unsupported("mss")
	case s.TOS != 0:
		return unsupported("tos (dscp)")
	case s.Device != "":
		return measure.Fail(measure.KindUsage, "sock.device.windows", measure.Figures{"device": s.Device})
	case s.FlowLabel != 0:
		return unsupported("flow_label")
	case s.NoFragment:
		return unsupported("dont_fragment")
	case s.ReusePort:
		return measure.Fail(measure.KindUsage, "sock.shared_port", measure.Figures{"system": system})
	}
	if s.Window > 0 {
		for name, opt := range map[string]int{"SO_SNDBUF": windows.SO_SNDBUF, "SO_RCVBUF": windows.SO_RCVBUF} {
			if err := windows.SetsockoptInt(windows.Handle(handle), windows.SOL_SOCKET, opt, int(s.Window)); err != nil {
				return refused(name, s.Window, err)
			}
		}
	}
	return nil
}
