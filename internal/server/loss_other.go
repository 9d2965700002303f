//go:build !linux && !darwin && !windows

package server

import "syscall"

const errnoInUse = syscall.EADDRINUSE

// noticeLoss leaves it to TCP keepalive.
func noticeLoss(syscall.RawConn, int) {}
