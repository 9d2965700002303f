//go:build !windows

package native

import "syscall"

// The operating system's errors when a connection cannot be opened.
const (
	errnoRefused     = syscall.ECONNREFUSED
	errnoNoHost      = syscall.EHOSTUNREACH
	errnoNoNetwork   = syscall.ENETUNREACH
	errnoNoAddress   = syscall.EADDRNOTAVAIL
	errnoNotAllowed  = syscall.EACCES
	errnoForbidden   = syscall.EPERM
	errnoWrongFamily = syscall.EAFNOSUPPORT
	errnoNoFile      = syscall.EMFILE
	errnoNoFileLeft  = syscall.ENFILE // on the whole host
)
