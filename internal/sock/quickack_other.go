//go:build !linux

package sock

import "syscall"

// AcknowledgeAtOnce does nothing on this system.
func AcknowledgeAtOnce(syscall.Conn) {}
