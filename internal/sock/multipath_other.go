//go:build !linux

package sock

import (
	"net"
	"syscall"

	"soku/internal/measure"
)

// HasMultipath returns an error of kind usage: this system has no Multipath TCP.
func HasMultipath() error {
	return measure.Errorf(measure.KindUsage, "measure over Multipath TCP: %s does not have it", system).
		WithHint("use Linux, or leave out --mptcp")
}

func (s Settings) controlMultipath(network, address string, c syscall.RawConn) error {
	return s.Control(network, address, c)
}

// Multipath reports that c does not use Multipath TCP: this system does not have it.
func Multipath(*net.TCPConn) (is, known bool) { return false, true }

// IsMultipath is [Multipath] for an open connection.
func IsMultipath(*net.TCPConn) bool { return false }
