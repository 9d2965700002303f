//go:build !linux && !darwin

package sock

import "net"

// Buffers reports false: the socket buffers are not read on this system.
func Buffers(net.Conn) (send, receive int, ok bool) { return 0, 0, false }
