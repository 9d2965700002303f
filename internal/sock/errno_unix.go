//go:build unix

package sock

import (
	"errors"
	"io"
	"net"

	"golang.org/x/sys/unix"
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
