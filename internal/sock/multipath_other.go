//go:build !linux

package sock

import (
	"net"
	"syscall"

	"soku/internal/measure"
)

// HasMultipath is an error of kind usage: this system has no Multipath TCP for programs.
func HasMultipath() error {
	return measure.Errorf(measure.KindUsage, "measure over Multipath TCP: %s does not have it", system).
		WithHint("use Linux, or leave out --mptcp")
}

func (s Settings) controlMultipath(network, address string, c syscall.RawConn) error {
	return s.Control(network, address, c)
}

// Multipath tells whether c is a connection of Multipath TCP: never here.
func Multipath(*net.TCPConn) (is, known bool) { return false, true }

// IsMultipath is [Multipath] for a connection that is open.
func IsMultipath(*net.TCPConn) bool { return false }
