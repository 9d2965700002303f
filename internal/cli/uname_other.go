//go:build !linux

package cli

import "runtime"

func uname() string { return runtime.GOOS + " " + runtime.GOARCH }
