//go:build !linux

package sock

import "net"

// forceQueue is for systems whose limit can be gone over.
func forceQueue(net.Conn) bool { return false }
