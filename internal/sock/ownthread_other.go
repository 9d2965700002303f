//go:build !linux

package sock

import "syscall"

func firstThread() bool { return false }

// ownDescriptors has nothing to do: tables of descriptors belong to processes.
func ownDescriptors([]syscall.RawConn) (end func()) { return func() {} }
