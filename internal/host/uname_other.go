//go:build !linux

package host

import "runtime"

// Uname is the system and the architecture, as Go names them.
func Uname() string { return runtime.GOOS + " " + runtime.GOARCH }
