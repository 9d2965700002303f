//go:build unix

package sock

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Refused reports whether err says that an earlier datagram found nobody
// listening (ICMP port unreachable). The call that got it moved nothing.
func Refused(err error) bool { return errors.Is(err, unix.ECONNREFUSED) }

// NoBuffers reports whether err says that the host's own queues were full for
// a moment; the datagram was not sent.
func NoBuffers(err error) bool { return errors.Is(err, unix.ENOBUFS) || errors.Is(err, unix.ENOMEM) }

// TooLong reports whether err says that a datagram is larger than the host sends.
func TooLong(err error) bool { return errors.Is(err, unix.EMSGSIZE) }
