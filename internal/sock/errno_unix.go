//go:build unix

package sock

import (
	"errors"
	"io"
	"net"

	"golang.org/x/sys/unix"
)

// HearRefusals makes the calls on a connected UDP socket say when an earlier
// datagram found nobody listening, which [Refused] tells; these systems do
// without being asked.
func HearRefusals(net.Conn) {}

// Refused reports whether err says that an earlier datagram found nobody
// listening (ICMP port unreachable). The call that got it moved nothing.
func Refused(err error) bool { return errors.Is(err, unix.ECONNREFUSED) }

// NoBuffers reports whether err says that the host's own queues were full for
// a moment; the datagram was not sent.
func NoBuffers(err error) bool { return errors.Is(err, unix.ENOBUFS) || errors.Is(err, unix.ENOMEM) }

// TooLong reports whether err says that a datagram is larger than the host sends.
func TooLong(err error) bool { return errors.Is(err, unix.EMSGSIZE) }

// Closed reports whether err says that the peer closed or reset the connection.
func Closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.EPIPE)
}
