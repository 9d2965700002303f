//go:build !windows

package latency

import (
	"errors"
	"syscall"
)

// refused reports whether a datagram sent earlier came back as "port
// unreachable": nobody is listening there any more.
func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// noBuffer reports whether the system had no room for a datagram: it is lost
// before it left.
func noBuffer(err error) bool { return errors.Is(err, syscall.ENOBUFS) }

// cut reports whether a datagram was longer than the buffer it was read into.
func cut(error) bool { return false }
