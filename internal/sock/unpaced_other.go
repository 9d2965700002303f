//go:build !linux

package sock

import "net"

// Unpaced does nothing: only Linux paces accepted connections.
func Unpaced(*net.TCPListener) {}

// SystemCongestion does nothing, as [Unpaced].
func SystemCongestion(*net.TCPConn) {}
