//go:build !windows

package latency

import (
	"errors"
	"syscall"
)

// refused reports whether an earlier datagram was answered with "port unreachable": no
// socket listens there any more.
func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// noBuffer reports whether the system had no buffer for a datagram, which was not sent.
func noBuffer(err error) bool { return errors.Is(err, syscall.ENOBUFS) }

// cut reports whether a datagram was longer than its read buffer.
func cut(error) bool { return false }
