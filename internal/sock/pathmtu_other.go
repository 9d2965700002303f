//go:build !linux

package sock

import "net"

// PathMTU is the largest packet that the path of c is known to carry; this platform is
// not asked.
func PathMTU(net.Conn) (bytes int, ok bool) { return 0, false }
