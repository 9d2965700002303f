//go:build unix

package udp

import "syscall"

const (
	refusedErrno = syscall.ECONNREFUSED
	fullErrno    = syscall.ENOBUFS
)
