//go:build !linux

package sock

import "syscall"

// StateReader reads nothing: the state of sockets is not read on this system.
type StateReader struct{}

// NewStateReader returns nil.
func NewStateReader(syscall.Conn) *StateReader { return nil }

// Read reports false.
func (*StateReader) Read(*State) bool { return false }
