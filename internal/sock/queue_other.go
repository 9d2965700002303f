//go:build !linux

package sock

import "net"

// forceQueue reports false: the system's limit cannot be exceeded.
func forceQueue(net.Conn) bool { return false }
