//go:build !linux

package sock

import "net"

// PathMTU reports false: the path MTU is not read on this system.
func PathMTU(net.Conn) (bytes int, ok bool) { return 0, false }
