//go:build !linux

package sock

import "net"

// Unpaced lets l accept connections that no congestion control has begun to pace, which
// is of Linux.
func Unpaced(*net.TCPListener) {}

// SystemCongestion gives c the system's congestion control where [Unpaced] kept c from it.
func SystemCongestion(*net.TCPConn) {}
