//go:build unix

package sock

import (
	"errors"
	"io"
	"math"
	"net"
	"syscall"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
)

// ReportRefusals enables errors on a connected UDP socket after an earlier datagram was
// refused; see [Refused]. On these systems they are always enabled.
func ReportRefusals(net.Conn) {}

// Refused reports whether err means that no socket listens where an earlier datagram went
// (ICMP port unreachable). The call that returned err moved no data.
func Refused(err error) bool { return errors.Is(err, unix.ECONNREFUSED) }

// NoBuffers reports whether err means that the host's send queues were full, so that the
// datagram was not sent.
func NoBuffers(err error) bool { return errors.Is(err, unix.ENOBUFS) || errors.Is(err, unix.ENOMEM) }

// TooLong reports whether err means that a datagram is larger than the host can send.
func TooLong(err error) bool { return errors.Is(err, unix.EMSGSIZE) }

// Closed reports whether err means that the peer closed or reset the connection.
func Closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.EPIPE)
}

// OpenFiles returns how many file descriptors this process may have open; 0 is no limit
// that matters. Go raises the limit to the highest that the system lets it have.
func OpenFiles() int {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil || l.Cur > math.MaxInt32 {
		return 0
	}
	return int(l.Cur)
}

// Buffers returns the current sizes of c's socket buffers in bytes, or false if the
// system does not report them. Linux reports twice the requested size.
func Buffers(c net.Conn) (send, receive int, ok bool) {
	sc, is := c.(syscall.Conn)
	if !is {
		return 0, 0, false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return 0, 0, false
	}
	var sendErr, receiveErr error
	err = raw.Control(func(fd uintptr) {
		send, sendErr = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF)
		receive, receiveErr = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF)
	})
	return send, receive, err == nil && sendErr == nil && receiveErr == nil
}

// windowCapped returns the error for a buffer that the system limits to less.
func windowCapped(option string, asked measure.Size, got int, knob string) error {
	return measure.Fail(measure.KindPermission, "sock.window", measure.Figures{
		"option": option, "asked_bytes": asked, "limit_bytes": measure.Size(got), "setting": knob,
	})
}
