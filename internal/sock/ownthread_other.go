//go:build !linux

package sock

import "syscall"

func firstThread() bool { return false }

// ownDescriptors does nothing: descriptor tables belong to processes on this system.
func ownDescriptors([]syscall.RawConn) (end func()) { return func() {} }
