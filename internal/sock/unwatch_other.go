//go:build !linux

package sock

import "net"

// Unwatch does nothing: only Linux gains from it.
func Unwatch([]net.Conn) (watch func()) { return func() {} }
