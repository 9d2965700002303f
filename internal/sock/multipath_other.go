//go:build !linux

package sock

import (
	"net"
	"syscall"

	"soku/internal/measure"
)

// HasMultipath returns an error of kind usage: this system has no Multipath TCP.
func HasMultipath() error {
	return measure.Fail(measure.KindUsage, "sock.multipath.system", measure.Figures{"system": system})
}

func (s Settings) controlMultipath(network, address string, c syscall.RawConn) error {
	return s.Control(network, address, c)
}

// Multipath reports that c does not use Multipath TCP: this system does not have it.
func Multipath(*net.TCPConn) (is, known bool) { return false, true }

// IsMultipath is [Multipath] for an open connection.
func IsMultipath(*net.TCPConn) bool { return false }
